"""Reads the file of a soul: every line is checked before anything is stored."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import tzinfo
from itertools import count
from typing import IO, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from pydantic_core import from_json
from sqlalchemy import Table

from soulgraph.api.edits import unstorable
from soulgraph.api.fields import Id, Name
from soulgraph.api.soul_library import FoundPresets
from soulgraph.errors import InvalidInput
from soulgraph.memory.events import Event, Pattern
from soulgraph.soul.validation import explain
from soulgraph.stores.episodes import index_columns
from soulgraph.stores.soul_ids import required_references
from soulgraph.stores.soul_tables import LIBRARY, TABLES, Row, check_shape, decoded, from_base64, key_of
from soulgraph.stores.workspace import MAX_MOVED, is_soul_file

VERSION = 2
"""Version 1 had neither presets of the library nor files."""
FILES = "files"
EVENTS = "events"
"""Lines of the soul's files and of its private events, which are not in the database; they come last."""

_ORDER = [*TABLES, *LIBRARY, FILES, EVENTS]
_REFERRED_TO = ("souls", "backgrounds", "event_uses", "sessions", "messages", "turns")
_MAX_LINE = 32 * 1024 * 1024
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


class FileRow(BaseModel):
    """A file of the soul, by its path in the soul's folder."""

    path: str
    content: str = Field(max_length=2 * MAX_MOVED, description="in base64")


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

    `people` are those whose sessions are in it, `audiences` who may recall each event, `indexed` what each message is
    found by. The rows themselves stay in the file, which may be larger than the memory.
    """

    body: IO[bytes]
    zone: tzinfo | None
    soul: Row = field(default_factory=dict)
    ids: dict[str, set[Any]] = field(default_factory=lambda: {name: set() for name in TABLES})
    people: set[str] = field(default_factory=set)
    summaries: list[Row] = field(default_factory=list)
    audiences: dict[str, str] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    indexed: dict[int, Row] = field(default_factory=dict)
    presets: FoundPresets = field(default_factory=FoundPresets)
    files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def read(cls, body: IO[bytes], zone: tzinfo | None) -> "SoulFile":
        """Raises InvalidInput with the number of the first line that cannot be read."""
        file = cls(body, zone)
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
        if (line.table == "souls") == bool(self.soul):
            raise InvalidInput("a file has one soul, and its row comes first")
        if line.table == EVENTS:
            self._take_event(line.row)
        elif line.table == FILES:
            self._take_file(line.row)
        elif line.table in LIBRARY:
            row = decoded(LIBRARY[line.table], line.row)
            validated(Id, row.get("id", row.get("character_id")), "id")
            self.presets.take(line.table, row)
        else:
            self._take_row(line)

    def _take_row(self, line: Line) -> None:
        table = TABLES[line.table]
        row = decoded(table, line.row)
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
        elif line.table == "messages":
            self.indexed[row["message_id"]] = index_columns(row["content"], row["created_at"], self.zone)

    def _check_references(self, table: Table, row: Row) -> None:
        for column, parent in required_references(table).items():
            if row.get(column) not in self.ids[parent]:
                raise InvalidInput(f"{column}: there is no such row of {parent} before it")

    def _remember(self, table: str, key: Any) -> None:
        """Keys of tables to which others refer are there once; the database checks those of the others."""
        if table in _REFERRED_TO:
            if key in self.ids[table]:
                raise InvalidInput("an earlier line has the same id")
            self.ids[table].add(key)

    def _take_file(self, row: Any) -> None:
        file = validated(FileRow, row, "row")
        if not is_soul_file(file.path) or file.path in self.files:
            raise InvalidInput(f"path: {file.path!r} is no file of a soul, or is there twice")
        content = from_base64("content", file.content)
        if len(content) > MAX_MOVED:
            raise InvalidInput(f"content: a file of a soul may have {MAX_MOVED} bytes at most")
        self.files[file.path] = content

    def _take_event(self, row: Any) -> None:
        event = validated(EventRow, row, "row").event()
        if event.event_id not in self.ids["event_uses"]:
            raise InvalidInput("event_id: there is no such row of event_uses before it")
        self.events.append(event)

    def batches(self) -> Iterator[tuple[str, list[Row]]]:
        """The rows of the database again, some of one table at a time."""
        batch: list[Row] = []
        current = ""
        tables = TABLES | LIBRARY
        for _, line in _lines(self.body):
            if batch and (line.table != current or len(batch) == _BATCH):
                yield current, batch
                batch = []
            current = line.table
            if current in tables:
                batch.append(decoded(tables[current], line.row))
        if batch:
            yield current, batch


def validated(kind: Any, value: Any, name: str) -> Any:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise InvalidInput(explain(error, name)) from error


def _check_header(body: IO[bytes]) -> None:
    body.seek(0)
    header = _parsed(body.readline(_MAX_LINE), 1)
    if not isinstance(header, dict) or header.get("type") != "soul":
        raise InvalidInput(
            "line 1: this is no file of a soul: send what GET /v1/souls/{soul_id}/export answers", line=1
        )
    version = header.get("version")
    if not isinstance(version, int) or not 1 <= version <= VERSION:
        raise InvalidInput(
            f"line 1: the file has version {version!r}, and this server reads 1 to {VERSION}: update it", line=1
        )


def _lines(body: IO[bytes]) -> Iterator[tuple[int, Line]]:
    """The lines after the first with their numbers; blank ones are skipped."""
    body.seek(0)
    for number in count(1):
        raw = body.readline(_MAX_LINE)
        if not raw:
            return
        if len(raw) == _MAX_LINE:
            raise InvalidInput(f"line {number}: is longer than {_MAX_LINE // 2**20} MiB", line=number)
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
