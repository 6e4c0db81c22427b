"""Validation of what is stored over HTTP: data that every database can store, and edits of the latest revision only."""

import json
import math
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from soulgraph.errors import Conflict
from soulgraph.soul.validation import NUL

DEPTH = 32


def example(*bodies: dict[str, Any]) -> ConfigDict:
    """The configuration of a request body without unknown fields, with examples for `/docs`."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [*bodies]})


class Body(BaseModel):
    """A request body without unknown fields, in which every text and number can be stored."""

    model_config = ConfigDict(extra="forbid")

    read_only: ClassVar[frozenset[str]] = frozenset()
    """Fields that an answer has and an edit cannot change: what was read may be sent back, and they are ignored."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unstorable(cls, data: Any) -> Any:
        if flaw := unstorable(data):
            raise ValueError(flaw)
        if not isinstance(data, dict):
            return data
        return {name: value for name, value in data.items() if name not in cls.read_only}


class Revised(Body):
    revision: str | None = Field(None, max_length=64, description="of what was read; 409 if it has changed since")


def unstorable(data: Any) -> str:
    """Why the data cannot be stored, with the path of the value at fault; empty if it can be stored."""
    # A stack instead of recursion: hostile JSON may be nested deeper than Python can recurse.
    stack: list[tuple[tuple[str, ...], Any]] = [((), data)]
    while stack:
        path, value = stack.pop()
        if flaw := _flaw(value, len(path)):
            return f"{'.'.join(path[:DEPTH])}: {flaw}".removeprefix(": ")
        stack += [((*path, key), inner) for key, inner in _children(value)]
    return ""


def _children(value: Any) -> Iterable[tuple[str, Any]]:
    """(key, value) of what a dict or list contains; the keys of a dict are values too, because they are stored."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield "key", key
            yield str(key), inner
    elif isinstance(value, list):
        yield from ((str(at), inner) for at, inner in enumerate(value))


def _flaw(value: Any, depth: int) -> str:
    if depth > DEPTH:
        return f"is nested more than {DEPTH} levels deep"
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    # PostgreSQL cannot store NUL in a text, and lone surrogates cannot be encoded as UTF-8.
    if isinstance(value, str) and NUL in value:
        return "must not contain NUL characters"
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        return "must be valid Unicode"
    return ""


def revision_of(content: Any) -> str:
    """A hash of the content, which clients send back with an edit."""
    return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=8).hexdigest()


def refuse_if_changed(revision: str | None, content: Any) -> None:
    """Raise Conflict if the content has another revision than the edit was made to; None skips the check."""
    if revision is not None and revision != revision_of(content):
        raise Conflict("changed_meanwhile", "somebody has changed this since it was read: read it again, then edit it")
