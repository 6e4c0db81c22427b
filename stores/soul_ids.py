"""What the rows of a soul refer to, and the same rows under other ids."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from sqlalchemy import Table

from soulgraph.stores import schema
from soulgraph.stores.soul_tables import Row, key_of

Rename = Callable[[str, Any], Any]
"""The new id of a row, by its table and old id; None for a message that is not in the file."""

# What refers to a row without a foreign key.
_LOOSE_REFERENCES = {
    "souls": {"character_id": "characters"},
    "sessions": {"background_id": "backgrounds", "template_id": "templates", "continued_from": "sessions"},
    "messages": {"turn_id": "turns", "soul_id": "souls", "souls": "souls"},
    "episodes": {"previous_id": "messages"},
    "turns": {"session_id": "sessions", "turn_id": "turns"},
    "event_provenance": {"event_id": "event_uses", "message_ids": "messages"},
    "facts": {"message_ids": "messages"},
    "plans": {"session_id": "sessions", "evidence": "messages"},
}


@cache
def references(table: Table) -> dict[str, str]:
    """The columns that refer to rows, with the tables of those."""
    keys = {key.parent.name: key.column.table.name for key in table.foreign_keys}
    return keys | _LOOSE_REFERENCES.get(table.name, {})


def required_references(table: Table) -> dict[str, str]:
    """Those of them that must be in the file."""
    keys = {key.parent.name: key.column.table.name for key in table.foreign_keys}
    return keys | ({"session_id": "sessions"} if table is schema.turns else {})


def renamed(table: Table, row: Row, rename: Rename) -> Row:
    """The row with new ids in place of the old ones."""
    changed = {column: _renamed(row.get(column), kind, rename) for column, kind in references(table).items()}
    if table.name in ("souls", "sessions", "event_uses", "characters", "templates", "backgrounds"):
        key = key_of(table)
        changed[key] = rename(table.name, row[key])
    row = row | {column: value for column, value in changed.items() if column in row}
    inside = _INSIDE.get(table.name)
    return inside(row, rename) if inside else row


def _renamed(value: Any, kind: str, rename: Rename) -> Any:
    if isinstance(value, list):
        return [new for one in value if (new := rename(kind, one)) is not None]
    return None if value is None else rename(kind, value)


def _in_session(row: Row, rename: Rename) -> Row:
    souls = {rename("souls", soul_id): _in_snapshot(one, rename) for soul_id, one in row.get("souls", {}).items()}
    return row | {"souls": souls, "character_snapshot": _in_snapshot(row["character_snapshot"], rename)}


def _in_snapshot(snapshot: Row, rename: Rename) -> Row:
    return {**snapshot, "source_preset": _renamed(snapshot["source_preset"], "characters", rename)}


def _in_template(row: Row, rename: Rename) -> Row:
    """A template tells its id in its data too."""
    return row | {"data": {**row["data"], "template_id": row["id"]}} if "template_id" in row["data"] else row


def _in_turn(row: Row, rename: Rename) -> Row:
    """The ids in the answer; what was in the prompt is named there as `kind:id`."""
    answer = row.get("answer")
    if answer is None:
        return row
    ids = {"session_id": "sessions", "turn_id": "turns", "soul_id": "souls"}
    new = {key: rename(kind, answer[key]) for key, kind in ids.items() if isinstance(answer.get(key), str)}
    persona = answer.get("persona")
    if isinstance(persona, dict) and isinstance(persona.get("sources"), list):
        new["persona"] = {**persona, "sources": _sources(persona["sources"], rename)}
    return row | {"answer": {**answer, **new, "replaces": None}}


def _sources(sources: Iterable[Any], rename: Rename) -> list[Any]:
    kinds = {"episode": "messages", "event": "event_uses", "summary": "backgrounds"}
    renamed = []
    for source in sources:
        kind, _, key = str(source).partition(":")
        old: Any = int(key) if kind == "episode" and key.isdecimal() else key
        new = rename(kinds[kind], old) if kind in kinds else key
        if new is not None:
            renamed.append(f"{kind}:{new}" if kind in kinds else source)
    return renamed


def _in_background(row: Row, rename: Rename) -> Row:
    """One of the library sums up nothing."""
    data = row["data"]
    origin = data.get("extensions", {}).get("summary_of")
    if not isinstance(origin, dict):
        return row
    ids = {"soul_id": rename("souls", origin["soul_id"]), "session_id": rename("sessions", origin["session_id"])}
    return row | {"data": {**data, "extensions": {**data["extensions"], "summary_of": {**origin, **ids}}}}


def _in_event(row: Row, rename: Rename) -> Row:
    soul_id, _, people = str(row["audience"]).partition("\n")
    return row | {"audience": f"{rename('souls', soul_id)}\n{people}"}


def _in_version(row: Row, rename: Rename) -> Row:
    """What a version came from is named as `kind:id`, too."""
    kind, _, key = row["source"].partition(":")
    tables = {"reflection": "turns", "inherited": "sessions"}
    return row | {"source": f"{kind}:{rename(tables[kind], key)}"} if kind in tables else row


_INSIDE: dict[str, Callable[[Row, Rename], Row]] = {
    "sessions": _in_session,
    "turns": _in_turn,
    "backgrounds": _in_background,
    "templates": _in_template,
    "event_uses": _in_event,
    "persona_versions": _in_version,
    "inner_versions": _in_version,
}
