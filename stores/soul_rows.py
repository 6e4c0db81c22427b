"""All rows of a soul, read page by page, and rows of a file of one, stored under ids that are free."""

import asyncio
from bisect import bisect_right
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import Select, Table, insert, select, tuple_, update
from sqlalchemy.exc import DataError, IntegrityError

from soulgraph.errors import InvalidInput
from soulgraph.senses.tokenizer import fingerprints
from soulgraph.stores import schema
from soulgraph.stores.database import Connection
from soulgraph.stores.soul_ids import renamed
from soulgraph.stores.soul_tables import TABLES, Row, encoded, key_of, of_soul, parent_of

_PAGE = 500
_BATCH = 100


def _queries(table: Table, soul_id: str, session_ids: Sequence[str]) -> Iterator[Select[Any]]:
    """Queries that together give the soul's rows, each for what an index finds."""
    own = select(table).where(of_soul(table, soul_id))
    parent = parent_of(table)
    if parent is None:
        yield own
        return
    name, column = parent
    if name == "messages":
        own = own.join(schema.messages, schema.messages.c.message_id == column)
        column = schema.messages.c.session_id
    for session_id in session_ids:
        yield own.where(column == session_id)


class SoulRows:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def pages(self, soul_id: str) -> AsyncIterator[tuple[str, list[Row]]]:
        """(table, rows) of everything that belongs to the soul, parents before what refers to them."""
        keys: dict[str, list[str]] = {"sessions": [], "event_uses": []}
        for name, table in TABLES.items():
            for query in _queries(table, soul_id, keys["sessions"]):
                async for page in self._pages(table, query):
                    if table is schema.event_provenance:
                        page = [row for row in page if row["event_id"] in keys["event_uses"]]
                    yield name, [encoded(table, row) for row in page]
                    if name in keys:
                        keys[name] += [row[key_of(table)] for row in page]
                    await asyncio.sleep(0)  # a long life has many pages, and others are served between them

    async def _pages(self, table: Table, query: Select[Any]) -> AsyncIterator[list[Row]]:
        """The rows in the order of their keys, never many at once."""
        key = tuple_(*table.primary_key)
        query = query.order_by(*table.primary_key).limit(_PAGE)
        page = await self._rows(query)
        while page:
            yield page
            last = [page[-1][column.name] for column in table.primary_key]
            page = await self._rows(query.where(key > tuple_(*last))) if len(page) == _PAGE else []

    async def _rows(self, query: Select[Any]) -> list[Row]:
        return [dict(row) for row in (await self._connection.execute(query)).mappings()]

    async def taken(self, table: Table, keys: Collection[str]) -> set[str]:
        """Those of these ids that rows of the table have."""
        found: set[str] = set()
        column = table.c[key_of(table)]
        ordered = sorted(keys)
        for start in range(0, len(ordered), _PAGE):
            query = select(column).where(column.in_(ordered[start : start + _PAGE]))
            found.update((await self._connection.execute(query)).scalars())
        return found

    async def heard_sessions(self, session_ids: Collection[str]) -> set[str]:
        """Those of these sessions in which something was heard, whether or not they exist."""
        found: set[str] = set()
        ordered = sorted(session_ids)
        for start in range(0, len(ordered), _PAGE):
            column = schema.turns.c.session_id
            query = select(column).where(column.in_(ordered[start : start + _PAGE])).distinct()
            found.update((await self._connection.execute(query)).scalars())
        return found


class Importing:
    """Stores rows in the order of `TABLES`. `new_ids` are by table, and hold only those that are not kept."""

    def __init__(self, connection: Connection, new_ids: dict[str, dict[str, str]]) -> None:
        self._connection = connection
        self._new_ids = new_ids
        self._messages: dict[int, int] = {}
        self._in_session: defaultdict[str, list[int]] = defaultdict(list)
        self._terms: dict[int, bytes] = {}
        self._sessions: list[Row] = []

    def rename(self, table: str, old: Any) -> Any:
        if table == "messages":
            return self._messages.get(old)
        return self._new_ids.get(table, {}).get(old, old)

    async def add(self, table: Table, rows: Sequence[Row]) -> None:
        """Raises InvalidInput if rows contradict each other."""
        try:
            for start in range(0, len(rows), _BATCH):
                await self._add(table, rows[start : start + _BATCH])
                await asyncio.sleep(0)
        except (IntegrityError, DataError) as error:
            raise InvalidInput(f"{table.name}: rows of the file contradict each other or cannot be stored") from error

    async def _add(self, table: Table, rows: Sequence[Row]) -> None:
        if table is schema.messages:
            return await self._add_messages(rows)
        new = [renamed(table, row, self.rename) for row in rows]
        if table is schema.sessions:
            self._sessions += rows
            new = [{**row, "reflected_to": 0} for row in new]
        if table is schema.episodes:
            new = [{**row, "terms": self._terms[old["message_id"]]} for row, old in zip(new, rows, strict=True)]
        for alike in _by_columns(new):
            await self._connection.execute(insert(table), alike)
        return None

    async def _add_messages(self, rows: Sequence[Row]) -> None:
        """They get numbers of their own, because those of the file may be anybody's here."""
        table = schema.messages
        new = [renamed(table, row, self.rename) for row in rows]
        stored = insert(table).returning(table.c.message_id, sort_by_parameter_order=True)
        unnumbered = [{name: value for name, value in row.items() if name != "message_id"} for row in new]
        ids: list[int] = []
        for alike in _by_columns(unnumbered):
            ids += (await self._connection.execute(stored, alike)).scalars()
        for row, message_id in zip(rows, ids, strict=True):
            self._messages[row["message_id"]] = message_id
            self._in_session[row["session_id"]].append(row["message_id"])
            self._terms[row["message_id"]] = fingerprints(row["content"])

    async def finish(self) -> None:
        """Tell the sessions up to which message they were thought about: the numbers are known only now."""
        for session in self._sessions:
            old_ids = sorted(self._in_session[session["session_id"]])
            key = schema.sessions.c.session_id == self.rename("sessions", session["session_id"])
            guard = {person: self._guard(old_ids, one) for person, one in session.get("guard", {}).items()}
            values = {"reflected_to": self._up_to(old_ids, session.get("reflected_to", 0)), "guard": guard}
            await self._connection.execute(update(schema.sessions).where(key).values(values))

    def _guard(self, old_ids: Sequence[int], guard: Row) -> Row:
        proposed_to = guard.get("proposed_to")
        return guard if proposed_to is None else {**guard, "proposed_to": self._up_to(old_ids, proposed_to)}

    def _up_to(self, old_ids: Sequence[int], last: int) -> int:
        """The new number of the last message up to this one; 0 if there is none."""
        place = bisect_right(old_ids, last)
        return self._messages[old_ids[place - 1]] if place else 0


def _by_columns(rows: Iterable[Row]) -> Iterable[list[Row]]:
    """Rows with the same columns together, as one statement takes them, in their order."""
    alike: list[Row] = []
    for row in rows:
        if alike and alike[-1].keys() != row.keys():
            yield alike
            alike = []
        alike.append(row)
    if alike:
        yield alike
