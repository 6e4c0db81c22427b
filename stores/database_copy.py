"""Copies of the whole database, taken while it is used and read back into an empty one.

SQLite has an online copy of its own. Of PostgreSQL every table is read by COPY in one transaction that sees one moment:
`pg_dump` would do as well, but need not be installed where the server runs, nor be of the database's version.
"""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, Protocol

from psycopg import AsyncConnection, IsolationLevel, sql
from psycopg.errors import Error as PostgresError
from sqlalchemy import URL

from soulgraph.errors import StoreUnavailable
from soulgraph.stores.columns import metadata
from soulgraph.stores.database import conninfo

SQLITE_FILE = "database.sqlite"
TABLES_FOLDER = "tables"
BOOKS = ("alembic_version", "checkpoint_migrations")
"""Tables that say which migrations were run: whoever makes the schema fills them."""
_OF_EVENTS = ("event_uses", "event_provenance")


class DatabaseCopy(Protocol):
    """A copy that is being made; it shows the database as it was at one moment."""

    async def ids(self, query: str) -> list[str]:
        """The first column of what a query finds in the copy."""
        ...

    async def finish(self, without_events: Collection[str]) -> None:
        """Write the copy to its folder, without these events of the catalogue."""
        ...


@asynccontextmanager
async def copying(url: URL, folder: Path) -> AsyncIterator[DatabaseCopy]:
    """Raises StoreUnavailable if the database does not answer."""
    try:
        if url.get_backend_name() == "sqlite":
            yield await _SqliteCopy.begin(Path(str(url.database)), folder / SQLITE_FILE)
        else:
            async with await AsyncConnection.connect(conninfo(url)) as connection:
                await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
                await connection.set_read_only(True)
                yield _PostgresCopy(connection, folder / TABLES_FOLDER)
    except (sqlite3.Error, PostgresError) as error:
        raise StoreUnavailable(f"the database could not be copied: {error}") from error


class _SqliteCopy:
    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    async def begin(cls, database: Path, path: Path) -> "_SqliteCopy":
        await asyncio.to_thread(_copy_sqlite, database, path)
        return cls(path)

    async def ids(self, query: str) -> list[str]:
        with closing(sqlite3.connect(self._path)) as connection:
            return [row[0] for row in connection.execute(query)]

    async def finish(self, without_events: Collection[str]) -> None:
        with closing(sqlite3.connect(self._path)) as connection:
            for table in _OF_EVENTS:
                gone = [(event_id,) for event_id in without_events]
                connection.executemany(f"DELETE FROM {table} WHERE event_id = ?", gone)
            connection.commit()


def _copy_sqlite(database: Path, path: Path) -> None:
    """In one step: in several it would begin anew whenever somebody writes. Nobody waits for it."""
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target, pages=-1)
        target.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it


class _PostgresCopy:
    def __init__(self, connection: AsyncConnection[Any], folder: Path) -> None:
        self._connection = connection
        self._folder = folder

    async def ids(self, query: str) -> list[str]:
        cursor = await self._connection.execute(query.encode())
        return [row[0] for row in await cursor.fetchall()]

    async def finish(self, without_events: Collection[str]) -> None:
        self._folder.mkdir()
        for table in await table_names(self._connection):
            if table not in BOOKS:
                await self._copy(table, without_events if table in _OF_EVENTS else ())

    async def _copy(self, table: str, without_events: Collection[str]) -> None:
        columns = await _columns(self._connection, table)
        rows = sql.SQL("SELECT {} FROM {}").format(_names(columns), sql.Identifier(table))
        if without_events:
            rows += sql.SQL(" WHERE event_id NOT IN ({})").format(sql.SQL(", ").join(map(sql.Literal, without_events)))
        cursor = self._connection.cursor()
        with (self._folder / f"{table}.copy").open("wb") as file:
            file.write("\t".join(columns).encode() + b"\n")
            async with cursor.copy(sql.SQL("COPY ({}) TO STDOUT").format(rows)) as copy:
                async for chunk in copy:
                    file.write(chunk)


async def table_names(connection: AsyncConnection[Any]) -> list[str]:
    """The tables of the current schema, those that others refer to first."""
    cursor = await connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
    names = [name for (name,) in await cursor.fetchall()]
    order = {table.name: place for place, table in enumerate(metadata.sorted_tables)}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


async def _columns(connection: AsyncConnection[Any], table: str) -> list[str]:
    query = "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema()"
    cursor = await connection.execute(f"{query} AND table_name = %s ORDER BY ordinal_position".encode(), [table])
    return [name for (name,) in await cursor.fetchall()]


def _names(columns: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


async def is_empty(url: URL) -> bool:
    """Whether the database has no row of anybody's."""
    if url.get_backend_name() == "sqlite":
        return _is_empty_file(Path(str(url.database)))
    async with await AsyncConnection.connect(conninfo(url)) as connection:
        for table in await table_names(connection):
            query = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(table))
            row = await (await connection.execute(query)).fetchone()
            if table not in BOOKS and row and row[0]:
                return False
    return True


def _is_empty_file(path: Path) -> bool:
    return not path.exists() or path.stat().st_size == 0


async def paste(url: URL, folder: Path) -> None:
    """Put a copy into a database that is empty: all of it, or nothing. PostgreSQL must have its schema already."""
    if url.get_backend_name() == "sqlite":
        _put_file(folder / SQLITE_FILE, Path(str(url.database)))
        return
    async with await AsyncConnection.connect(conninfo(url)) as connection:
        for table in await table_names(connection):
            file = folder / TABLES_FOLDER / f"{table}.copy"
            if file.exists():
                await _paste(connection, table, file)
        await _advance_numbers(connection)


def _put_file(copy: Path, path: Path) -> None:
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    copy.replace(path)


async def _paste(connection: AsyncConnection[Any], table: str, path: Path) -> None:
    cursor = connection.cursor()
    with path.open("rb") as file:
        columns = file.readline().decode().rstrip("\n").split("\t")
        into = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), _names(columns))
        async with cursor.copy(into) as copy:
            while chunk := file.read(1024 * 1024):
                await copy.write(chunk)


async def _advance_numbers(connection: AsyncConnection[Any]) -> None:
    """New rows get numbers above those that were read back."""
    for table in metadata.sorted_tables:
        for column in table.primary_key:
            if column.autoincrement is True:
                number = sql.Identifier(column.name)
                names = sql.Literal(table.name), sql.Literal(column.name), number, number, sql.Identifier(table.name)
                query = sql.SQL(
                    "SELECT setval(pg_get_serial_sequence({}, {}), GREATEST(MAX({}), 1), MAX({}) IS NOT NULL) FROM {}"
                )
                await connection.execute(query.format(*names))
