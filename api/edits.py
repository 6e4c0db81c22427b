"""What is written over HTTP: text that every database can keep, and no edit of what its writer has not seen."""

import json
import math
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from soulgraph.errors import Conflict
from soulgraph.soul.validation import NUL

DEPTH = 32


class Body(BaseModel):
    """A body without unknown fields, whose every text and number can be stored."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, given: Any) -> Any:
        if flaw := unstorable(given):
            raise ValueError(flaw)
        return given


class Revised(Body):
    revision: str | None = Field(None, max_length=64, description="of what was read; 409 if it has changed since")


def unstorable(given: Any) -> str:
    """What in it no database could keep, with its place; empty if there is nothing."""
    left: list[tuple[tuple[str, ...], Any]] = [((), given)]
    while left:
        path, value = left.pop()
        if flaw := _flaw(value, len(path)):
            return f"{'.'.join(path[:DEPTH])}: {flaw}".removeprefix(": ")
        left += [((*path, key), inner) for key, inner in _inside(value)]
    return ""


def _inside(value: Any) -> Iterable[tuple[str, Any]]:
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
    if isinstance(value, str) and NUL in value:
        return "must not contain NUL characters"
    if isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
        return "must be valid Unicode"
    return ""


def revision_of(content: Any) -> str:
    """The same as long as the content is."""
    return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=8).hexdigest()


def refuse_if_changed(revision: str | None, content: Any) -> None:
    """An edit that names a revision is made to that one or not at all."""
    if revision is not None and revision != revision_of(content):
        raise Conflict("changed_meanwhile", "somebody has changed this since it was read: read it again, then edit it")
