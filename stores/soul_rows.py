"""All rows of a soul, read page by page, and rows of a file of one, stored under ids that are free."""

import asyncio
from bisect import bisect_right
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, bindparam, insert, select, tuple_, update
from sqlalchemy.exc import DataError, IntegrityError

from soulgraph.errors import InvalidInput
from soulgraph.stores import schema
from soulgraph.stores.database import Connection
from soulgraph.stores.soul_ids import renamed
from soulgraph.stores.soul_tables import TABLES, Row, encoded, key_of, of_soul, parent_of

_PAGE = 500
_BATCH = 100
_MARKS = ("reflected_to", "facts_to", "facts_asked_to")  # messages up to which something was drawn from a session


def _query(table: Table, soul_id: str) -> tuple[Select[Any], bool]:
    """The soul's rows in the order of their keys; and whether they are asked for one `session` at a time."""
    own = select(table).where(of_soul(table, soul_id)).order_by(*_order(table)).limit(_PAGE)
    parent = parent_of(table)
    if parent is None:
        return own, False
    name, column = parent
    if name == "messages":
        own = own.join(schema.messages, schema.messages.c.message_id == column)
        column = schema.messages.c.session_id
    return own.where(column == bindparam("session")), True


def _order(table: Table) -> list[ColumnElement[Any]]:
    """Its key. By the messages' own ids, if it hangs on them: SQLite would go through all of the soul's rows else."""
    parent = parent_of(table)
    by_message = parent is not None and parent[0] == "messages"
    numbers = {"message_id": schema.messages.c.message_id} if by_message else {}
    return [numbers.get(column.name, column) for column in table.primary_key]


class SoulRows:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def pages(self, soul_id: str) -> AsyncIterator[tuple[str, list[Row]]]:
        """(table, rows) of everything that belongs to the soul, parents before what refers to them."""
        keys: dict[str, list[str]] = {"sessions": [], "event_uses": []}
        for name, table in TABLES.items():
            query, by_session = _query(table, soul_id)
            for session_id in keys["sessions"] if by_session else [""]:
                async for page in self._pages(table, query, {"session": session_id} if by_session else {}):
                    if table is schema.event_provenance:
                        page = [row for row in page if row["event_id"] in keys["event_uses"]]
                    yield name, [encoded(table, row) for row in page]
                    if name in keys:
                        keys[name] += [row[key_of(table)] for row in page]
                    await asyncio.sleep(0)  # a long life has many pages, and others are served between them

    async def _pages(self, table: Table, query: Select[Any], values: Row) -> AsyncIterator[list[Row]]:
        """The rows of the query, never many at once."""
        page = await self._rows(query, values)
        while page:
            yield page
            last = tuple_(*(page[-1][column.name] for column in table.primary_key))
            rest = query.where(tuple_(*_order(table)) > last)
            page = await self._rows(rest, values) if len(page) == _PAGE else []

    async def _rows(self, query: Select[Any], values: Row) -> list[Row]:
        return [dict(row) for row in (await self._connection.execute(query, values)).mappings()]

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
    """Stores rows in the order of `TABLES`. `new_ids` are by table, and hold only those that are not kept.

    `indexed` is what the messages are found by, by their ids in the file: to compute it takes too long for a
    transaction.
    """

    def __init__(self, connection: Connection, new_ids: dict[str, dict[str, str]], indexed: Mapping[int, Row]) -> None:
        self._connection = connection
        self._new_ids = new_ids
        self._indexed = indexed
        self._messages: dict[int, int] = {}
        self._in_session: defaultdict[str, list[int]] = defaultdict(list)
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
            new = [{**row, **dict.fromkeys(_MARKS, 0)} for row in new]
        if table is schema.episodes:
            new = [{**row, **self._indexed[old["message_id"]]} for row, old in zip(new, rows, strict=True)]
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

    async def finish(self) -> None:
        """Tell the sessions up to which message they were thought about: the numbers are known only now."""
        for session in self._sessions:
            old_ids = sorted(self._in_session[session["session_id"]])
            key = schema.sessions.c.session_id == self.rename("sessions", session["session_id"])
            guard = {person: self._guard(old_ids, one) for person, one in session.get("guard", {}).items()}
            marks = {name: self._up_to(old_ids, session.get(name, 0)) for name in _MARKS}
            await self._connection.execute(update(schema.sessions).where(key).values(guard=guard, **marks))

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
