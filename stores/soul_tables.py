"""Which rows of the database are a soul's, and how a row is written as JSON, checked and read back.

A table whose rows go with a soul belongs to it: so a new one is in the files of souls without being named here.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from functools import cache
from typing import Any, NotRequired

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import BigInteger, Boolean, Column, ColumnElement, Float, Integer, LargeBinary, String, Table, true
from typing_extensions import TypedDict

from soulgraph.errors import InvalidInput
from soulgraph.soul.personality import Traits
from soulgraph.soul.profile import Edit
from soulgraph.soul.timestamps import EARLIEST, LATEST
from soulgraph.soul.validation import explain
from soulgraph.stores import records, schema, schema_memory, schema_plans
from soulgraph.stores.columns import Ids, metadata
from soulgraph.stores.souls import decode

Row = dict[str, Any]

LEFT_OUT = (schema.episode_vectors, schema_memory.outbox)
"""Vectors are computed anew, and work that is under way is none of the soul's."""

# The document of an event is a line of its own, which files from before its column have too.
_DERIVED = {
    "episodes": {"terms", "size", "asks", "dated"},
    "event_uses": {"document"},
    "facts": {"model", "vector"},
}
_SOULS, _SESSIONS, _MESSAGES, _EVENTS = schema.souls, schema.sessions, schema.messages, schema.event_uses


def _goes_with_soul(table: Table) -> bool:
    parents = [key.column.table for key in table.foreign_keys if key.ondelete == "CASCADE"]
    return any(parent is _SOULS or _goes_with_soul(parent) for parent in parents)


# Summaries of its conversations and its private events have no foreign key to it. What other rows name by a number
# that is made when they are stored, and what that needs, comes first.
_FIRST = (_SOULS, schema.backgrounds, _EVENTS, _SESSIONS, _MESSAGES)
_OTHERS = (table for table in metadata.sorted_tables if _goes_with_soul(table) and table not in (*_FIRST, *LEFT_OUT))
TABLES: dict[str, Table] = {table.name: table for table in (*_FIRST, *_OTHERS)}
"""In the order in which they are written and read."""

LIBRARY: dict[str, Table] = {
    "characters": schema.characters,
    "pictures": schema.pictures,
    "templates": schema.templates,
    "library_backgrounds": schema.backgrounds,
}
"""Rows of the library that a soul uses; `backgrounds` are the summaries of its own conversations."""


class _Origin(TypedDict):
    soul_id: str
    session_id: str
    user_id: str
    people: NotRequired[list[str]]


class _Extensions(TypedDict):
    summary_of: _Origin


class _Summary(TypedDict):
    """What is needed of a background that sums up a conversation."""

    initial_context: str
    extensions: _Extensions


_RECORDS: dict[str, Any] = {
    "backgrounds": records.Preset,
    "event_uses": records.EventUse,
    "sessions": records.Session,
    "messages": records.Message,
    "episode_uses": records.EpisodeUse,
    "persona_versions": records.PersonaVersion,
    "event_provenance": records.Provenance,
    "turns": records.Turn,
    "emotion_history": records.EmotionPoint,
    "preferences": records.Preference,
    "slots": records.Slot,
    "facts": records.Fact,
    "relations": records.Relation,
    "inner_versions": records.MonologueVersion,
    "lives": records.ProactiveSchedule,
    schema_plans.plans.name: records.Plan,
    "usage": records.DailyUsage,
    "chat_imports": records.ChatImport,
}


def key_of(table: Table) -> str:
    """The column by which rows of other tables refer to one of this table."""
    return "turn_id" if table is schema.turns else next(iter(table.primary_key)).name


def of_soul(table: Table, soul_id: str) -> ColumnElement[bool]:
    """The condition for rows of this soul; for those of its sessions and messages it is not enough."""
    if table is schema.backgrounds:
        summary_of: ColumnElement[str] = table.c.data["extensions"]["summary_of"]["soul_id"].as_string()
        return summary_of == soul_id
    if table is _EVENTS:
        return table.c.audience.startswith(f"{soul_id}\n", autoescape=True)
    own = table is _SOULS or any(key.parent.name == "soul_id" for key in table.foreign_keys)
    return table.c.soul_id == soul_id if own else true()


def parent_of(table: Table) -> tuple[str, Column[Any]] | None:
    """The table of sessions or messages to whose rows those of this table belong, and the column that names them.

    A soul may have taken part in sessions that belong to another, and they stay there.
    """
    for parent in (_MESSAGES, _SESSIONS):
        for key in table.foreign_keys:
            if key.column.table is parent:
                return parent.name, key.parent
    return ("sessions", table.c.session_id) if table is schema.turns else None


def encoded(table: Table, row: Mapping[str, Any]) -> Row:
    """A row as JSON, without what is computed from other columns."""
    derived = _DERIVED.get(table.name, set())
    return {name: _encoded(value) for name, value in row.items() if name not in derived}


def _encoded(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return list(value) if isinstance(value, tuple) else value


def decoded(table: Table, row: Any) -> Row:
    """A row of a file as the database takes it; raises InvalidInput if its columns are not those of the table."""
    if not isinstance(row, dict):
        raise InvalidInput("`row` is no object")
    columns = {name: column for name, column in table.c.items() if name not in _DERIVED.get(table.name, set())}
    if unknown := row.keys() - columns.keys():
        raise InvalidInput(f"{table.name} has no column {min(unknown)!r}: the file may be of a newer version")
    for name, column in columns.items():
        if name not in row and not (column.nullable or column.server_default):
            raise InvalidInput(f"{name}: is missing")
    return {name: _decoded(columns[name], value) for name, value in row.items()}


def _decoded(column: Column[Any], value: Any) -> Any:
    if value is None and column.nullable:
        return None
    if isinstance(column.type, LargeBinary):
        return from_base64(column.name, value)
    if not _fits(column.type, value):
        raise InvalidInput(f"{column.name}: is no {type(column.type).__name__.lower()} that can be stored")
    return value


def from_base64(name: str, value: Any) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error) as error:
        raise InvalidInput(f"{name}: is not in base64") from error


def _fits(kind: Any, value: Any) -> bool:
    if isinstance(kind, Ids):
        return isinstance(value, list) and all(isinstance(one, str) and "\n" not in one for one in value)
    if isinstance(kind, Boolean):
        return isinstance(value, bool)
    if isinstance(kind, Integer):
        bits = 63 if isinstance(kind, BigInteger) else 31
        return isinstance(value, int) and not isinstance(value, bool) and -(2**bits) <= value < 2**bits
    if isinstance(kind, Float):
        return isinstance(value, (int, float)) and not isinstance(value, bool) and EARLIEST <= value < LATEST
    if isinstance(kind, String):
        return isinstance(value, str) and len(value) <= (kind.length or len(value))
    return value is not None  # JSON: what is in it is checked with the whole row


def check_shape(table: Table, row: Row, soul_id: str) -> None:
    """Raise InvalidInput unless the program can read the row, and it is this soul's.

    By their keys only backgrounds and events could be anybody's.
    """
    try:
        if table is _SOULS:
            decode(row["soul_id"], row["personality_vector"], row["emotion_state"])
            _check(Edit, row["dynamic_profile"])
        elif table.name in _RECORDS:
            _check(_RECORDS[table.name], row)
        if table is schema.backgrounds:
            _check(_Summary, row["data"])
        if row.get("drift") is not None:
            Traits.from_dict(row["drift"], low=-1.0)
    except ValidationError as error:
        raise InvalidInput(explain(error)) from error
    owner = row["data"]["extensions"]["summary_of"]["soul_id"] if table is schema.backgrounds else soul_id
    if table is _EVENTS:
        owner = str(row.get("audience")).partition("\n")[0]
    if owner != soul_id:
        raise InvalidInput("this belongs to another soul than that of the file")


def _check(kind: Any, value: Any) -> None:
    """As JSON, because a list is no tuple otherwise; strictly, because it is stored as it is."""
    _adapter(kind).validate_json(json.dumps(value), strict=True)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)
