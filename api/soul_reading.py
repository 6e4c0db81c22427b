"""Reads the file of a soul: every line is checked before anything is stored."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Literal

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import from_json
from sqlalchemy import Table

from soulgraph.api.edits import unstorable
from soulgraph.api.fields import Id, Name
from soulgraph.errors import InvalidInput
from soulgraph.memory.events import Event, Pattern
from soulgraph.soul.validation import explain
from soulgraph.stores.soul_ids import required_references
from soulgraph.stores.soul_tables import TABLES, Row, check_shape, decoded, key_of

VERSION = 1
EVENTS = "events"
"""Lines of private events, which are not in the database; they come last."""

_ORDER = [*TABLES, EVENTS]
_BATCH = 100
_NAMED = {
    "souls": ("soul_id", "user_id", "character_id"),
    "sessions": ("session_id", "user_id", "background_id", "template_id", "continued_from"),
}
"""What is named in addresses."""


class Header(BaseModel):
    """The first line of a file."""

    type: Literal["soul"] = "soul"
    version: int = VERSION
    soul_id: str
    name: str
    exported_at: str


class Line(BaseModel):
    table: str
    row: Any


class EventRow(BaseModel):
    """An event, as `Event` has it."""

    event_id: str
    summary: str
    pattern: Pattern
    impact: dict[str, Any]
    narrative_fragment: str
    timestamp: str

    def event(self) -> Event:
        return Event(**{name: getattr(self, name) for name in EventRow.model_fields})


@dataclass(slots=True)
class SoulFile:
    """A file that was checked: the soul's row, the ids that are in it by table, and what is found by its meaning.

    `people` are those whose sessions are in it, `audiences` who may recall each event.
    """

    body: bytes
    soul: Row = field(default_factory=dict)
    ids: dict[str, set[Any]] = field(default_factory=lambda: {name: set() for name in TABLES})
    people: set[str] = field(default_factory=set)
    summaries: list[Row] = field(default_factory=list)
    audiences: dict[str, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    @classmethod
    def read(cls, body: bytes) -> "SoulFile":
        """Raises InvalidInput with the number of the first line that cannot be read."""
        file = cls(body)
        _check_header(body)
        place = 0
        for number, line in _lines(body):
            try:
                if line.table not in _ORDER[place:]:
                    raise InvalidInput(f"table {line.table!r}: is unknown, or its rows must come earlier")
                place = _ORDER.index(line.table)
                file._take(line)
            except InvalidInput as error:
                raise InvalidInput(f"line {number}: {error.detail}", line=number) from error
        if not file.soul:
            raise InvalidInput("the file has no soul: its second line is the row of `souls`")
        return file

    def _take(self, line: Line) -> None:
        if flaw := unstorable(line.row):
            raise InvalidInput(flaw)
        if line.table == EVENTS:
            self._take_event(line.row)
            return
        table = TABLES[line.table]
        row = decoded(table, line.row)
        if (line.table == "souls") == bool(self.soul):
            raise InvalidInput("a file has one soul, and its row comes first")
        self.soul = self.soul or row
        self._check_references(table, row)
        check_shape(table, row, self.soul["soul_id"])
        for column in _NAMED.get(line.table, ()):
            validated(Id | None, row.get(column), column)
        self._remember(line.table, row[key_of(table)])
        if line.table == "sessions":
            self.people.add(row["user_id"])
        elif line.table == "backgrounds":
            self.summaries.append(row)
        elif line.table == "event_uses":
            self.audiences[row["event_id"]] = row["audience"]

    def _check_references(self, table: Table, row: Row) -> None:
        for column, parent in required_references(table).items():
            if row[column] not in self.ids[parent]:
                raise InvalidInput(f"{column}: there is no such row of {parent} before it")

    def _remember(self, table: str, key: Any) -> None:
        """Keys of tables to which others refer are there once; the database checks those of the others."""
        if table in ("souls", "backgrounds", "event_uses", "sessions", "messages", "turns") and key in self.ids[table]:
            raise InvalidInput("an earlier line has the same id")
        self.ids[table].add(key)

    def _take_event(self, row: Any) -> None:
        event = validated(EventRow, row, "row").event()
        if event.event_id not in self.ids["event_uses"]:
            raise InvalidInput("event_id: there is no such row of event_uses before it")
        self.events.append(event)

    def batches(self) -> Iterator[tuple[Table, list[Row]]]:
        """The rows of the database again, some of one table at a time."""
        batch: list[Row] = []
        current = ""
        for _, line in _lines(self.body):
            if batch and (line.table != current or len(batch) == _BATCH):
                yield TABLES[current], batch
                batch = []
            current = line.table
            if current != EVENTS:
                batch.append(decoded(TABLES[current], line.row))
        if batch:
            yield TABLES[current], batch


def validated(kind: Any, value: Any, name: str) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise InvalidInput(explain(error, name)) from error


def _check_header(body: bytes) -> None:
    header = _parsed(body.partition(b"\n")[0], 1)
    if not isinstance(header, dict) or header.get("type") != "soul":
        raise InvalidInput(
            "line 1: this is no file of a soul: send what GET /v1/souls/{soul_id}/export answers", line=1
        )
    if header.get("version") != VERSION:
        raise InvalidInput(
            f"line 1: the file has version {header.get('version')!r}, and this server reads {VERSION}: update it",
            line=1,
        )


def _lines(body: bytes) -> Iterator[tuple[int, Line]]:
    """The lines after the first with their numbers; blank ones are skipped."""
    for number, raw in enumerate(BytesIO(body), 1):
        if number > 1 and raw.strip():
            try:
                yield number, Line.model_validate(_parsed(raw, number))
            except ValidationError as error:
                raise InvalidInput(f"line {number}: {explain(error)}", line=number) from error


def _parsed(raw: bytes, number: int) -> Any:
    try:
        return from_json(raw)
    except ValueError as error:
        raise InvalidInput(f"line {number}: this is no JSON: {error}", line=number) from error


def name_of(file: SoulFile, wanted: str | None) -> str:
    """What the soul is to be called."""
    name: str = wanted or validated(Name, file.soul["name"], "name")
    return name
