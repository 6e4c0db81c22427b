"""Validation of what is stored over HTTP: data that every database can store, and edits of the latest revision only."""

import json
import math
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from soulgraph.errors import Conflict
from soulgraph.soul.validation import flaw_of_text, legible

DEPTH = 32


def example(*bodies: dict[str, Any], one_of: Iterable[dict[str, Any]] = (), **keywords: Any) -> ConfigDict:
    """The configuration of a request body without unknown fields, with examples for `/docs`.

    `one_of` are the forms that a body may have, if its fields depend on each other; `keywords` are those of its schema
    that pydantic does not know.
    """
    forms = [*one_of]
    schema = {"examples": [*bodies], **keywords, **(forms_of(*forms) if forms else {})}
    return ConfigDict(extra="forbid", json_schema_extra=schema)


def forms_of(*forms: dict[str, Any]) -> dict[str, Any]:
    """The part of a schema that says which forms its objects may have.

    A condition that always holds: generators of types would take a plain `anyOf` for types instead of the object's.
    """
    return {"if": {}, "then": {"anyOf": [*forms]}}


def form(*given: str, without: Iterable[str] = ()) -> dict[str, Any]:
    """A form of a body as its schema says it: some fields are given, and others are not; null is not given."""
    there: dict[str, Any] = {name: {"not": {"type": "null"}} for name in given}
    return {"required": [*given], "properties": there | {name: {"type": "null"} for name in without}}


_MAX_FIELDS = 1000


class Storable(BaseModel):
    """Data in which every text and number can be stored."""

    @model_validator(mode="before")
    @classmethod
    def _refuse_unstorable(cls, data: Any) -> Any:
        if flaw := unstorable(data):
            raise ValueError(flaw)
        if isinstance(data, dict) and len(data) > _MAX_FIELDS:  # each unknown one would be a complaint of its own
            raise ValueError(f"has {len(data)} fields, and none has more than {_MAX_FIELDS}")
        return data


class Body(Storable):
    """A request body without unknown fields, in which every text and number can be stored."""

    model_config = ConfigDict(extra="forbid")

    read_only: ClassVar[frozenset[str]] = frozenset()
    """Fields that an answer has and an edit cannot change: what was read may be sent back, and they are ignored."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        properties = handler.resolve_ref_schema(schema)["properties"]
        for name in sorted(cls.read_only):
            properties[name] = {"readOnly": True, "title": name, "description": "ignored: it cannot be changed"}
        return schema

    @model_validator(mode="before")
    @classmethod
    def _drop_read_only(cls, data: Any) -> Any:
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
            return legible(f"{'.'.join(path[:DEPTH])}: {flaw}".removeprefix(": "))
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
    return flaw_of_text(value) if isinstance(value, str) else ""


def revision_of(content: Any) -> str:
    """A hash of the content, which clients send back with an edit."""
    return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=8).hexdigest()


def refuse_if_changed(revision: str | None, content: Any) -> None:
    """Raise Conflict if the content has another revision than the edit was made to; None skips the check."""
    if revision is not None and revision != revision_of(content):
        raise Conflict("changed_meanwhile", "somebody has changed this since it was read: read it again, then edit it")
