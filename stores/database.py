"""`Database`: SQLite and PostgreSQL behind one interface, with migrations, read connections and write transactions."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import sqlalchemy
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from psycopg.conninfo import make_conninfo
from sqlalchemy import URL, CursorResult, Dialect, Executable, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from soulgraph.errors import ConfigurationError
from soulgraph.stores.sqlite import BLOCKED_S, NO_AUTO_CHECKPOINT, retry_while_locked, wal_checkpoints

T = TypeVar("T")

DRIVERS = {
    "sqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_MIGRATION_LOCK = 0x5001
_QUIET: dict[str, Any] = {"hide_parameters": True}
"""Errors are logged, and the parameters of a statement are what users have said."""


def database_url(raw: str) -> URL:
    """The URL with the driver we use; raises ConfigurationError for anything but SQLite and PostgreSQL."""
    try:
        url = make_url(raw)
    except (ArgumentError, ValueError) as error:
        raise ConfigurationError("SOULGRAPH_DATABASE_URL", "not a database URL") from error
    if url.drivername not in DRIVERS:
        raise ConfigurationError(
            "SOULGRAPH_DATABASE_URL",
            f"{url.drivername!r} is not supported: use sqlite:///path/to/file.db or postgresql://user@host/name",
        )
    # In memory every connection would have a database of its own.
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise ConfigurationError("SOULGRAPH_DATABASE_URL", "SQLite needs a file: use sqlite:///path/to/file.db")
    return url.set(drivername=DRIVERS[url.drivername])


def conninfo(url: URL) -> str:
    """The URL as a libpq connection string: SQLAlchemy and libpq decode spaces in URLs differently."""
    parameters: dict[str, Any] = {**url.translate_connect_args(username="user", database="dbname"), **url.query}
    return make_conninfo(**parameters)


class Connection(Protocol):
    """The methods that repositories use of a connection; SQLAlchemy's AsyncConnection has them."""

    @property
    def dialect(self) -> Dialect: ...

    async def execute(self, statement: Executable, parameters: Any = None, /) -> CursorResult[Any]: ...

    async def run_sync(self, work: Callable[[sqlalchemy.Connection], T], /) -> T: ...


class Database(ABC):
    url: URL

    @staticmethod
    @asynccontextmanager
    async def open(raw_url: str) -> AsyncIterator["Database"]:
        """Connect and migrate to the newest schema; raises ConfigurationError if that fails."""
        url = database_url(raw_url)
        database: Database = _Sqlite(url) if url.get_backend_name() == "sqlite" else _Postgres(url)
        try:
            await _migrate(database)
            async with database.upkeep():
                yield database
        finally:
            await database.close()

    @abstractmethod
    def read(self) -> AbstractAsyncContextManager[Connection]: ...

    @abstractmethod
    def snapshot(self) -> AbstractAsyncContextManager[Connection]:
        """For reading: all statements of the block see the same state."""

    @abstractmethod
    def write(self) -> AbstractAsyncContextManager[Connection]:
        """A transaction: commits at the end of the block, rolls back on any error. Concurrent writers wait."""

    def upkeep(self) -> AbstractAsyncContextManager[None]:
        """Background work that is needed while the database is open; by default none."""
        return nullcontext()

    @abstractmethod
    async def close(self) -> None: ...


class _Postgres(Database):
    def __init__(self, url: URL) -> None:
        self.url = url
        # Pre-ping replaces connections that broke while they were idle, for example when PostgreSQL was restarted.
        self._engine = create_async_engine(url, pool_size=10, max_overflow=10, pool_pre_ping=True, **_QUIET)

    async def close(self) -> None:
        await self._engine.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Connection]:
        async with self._engine.connect() as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Connection]:
        async with self._engine.connect() as connection:
            await connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Connection]:
        async with self._engine.begin() as connection:
            yield connection


class _Sqlite(Database):
    """Statements run on the event loop; the module `sqlite` explains why."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self._writer = asyncio.Lock()
        # No isolation level: `write` begins its transactions itself, with BEGIN IMMEDIATE.
        connect_args = {"isolation_level": None, "timeout": BLOCKED_S}
        # No limit of connections: waiting for a free one would block the event loop, and with it its holder.
        self._engine = create_engine(url, max_overflow=-1, connect_args=connect_args, **_QUIET)
        event.listen(self._engine, "connect", _prepare_sqlite)

    def upkeep(self) -> AbstractAsyncContextManager[None]:
        return wal_checkpoints(Path(str(self.url.database)))

    async def close(self) -> None:
        self._engine.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Connection]:
        with self._engine.connect() as connection:
            yield _Inline(connection)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Connection]:
        with self._engine.connect() as connection, connection.begin():
            connection.exec_driver_sql("BEGIN")
            yield _Inline(connection)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Connection]:
        async with self._writer:
            with self._engine.connect() as connection, connection.begin():
                # Taking the write lock at once, not at the first write, means no two transactions can deadlock.
                await retry_while_locked(lambda: connection.exec_driver_sql("BEGIN IMMEDIATE"))
                yield _Inline(connection)


class _Inline:
    """An async interface to a synchronous connection: statements run on the event loop."""

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect

    async def execute(self, statement: Executable, parameters: Any = None, /) -> CursorResult[Any]:
        return self._connection.execute(statement, parameters)

    async def run_sync(self, work: Callable[[sqlalchemy.Connection], T], /) -> T:
        return work(self._connection)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # SQLite does not enforce foreign keys unless each connection asks for it.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute(NO_AUTO_CHECKPOINT)


async def migrated_to(raw_url: str, revision: str) -> None:
    """Give a database the schema of this revision, for what was stored under it."""
    url = database_url(raw_url)
    database: Database = _Sqlite(url) if url.get_backend_name() == "sqlite" else _Postgres(url)
    try:
        await _migrate(database, revision)
    finally:
        await database.close()


def knows_revision(revision: str) -> bool:
    return revision in {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}


async def _migrate(database: Database, revision: str = "head") -> None:
    try:
        async with database.write() as connection:
            if connection.dialect.name == "postgresql":
                # Servers that start together migrate one after the other.
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            await connection.run_sync(lambda connection: _upgrade(connection, revision))
    except (DBAPIError, OSError, CommandError) as error:
        url = database.url.render_as_string(hide_password=True)
        reason = getattr(error, "orig", error)
        raise ConfigurationError("SOULGRAPH_DATABASE_URL", f"cannot use {url}: {reason}") from error


def _upgrade(connection: sqlalchemy.Connection, revision: str) -> None:
    if revision == "head" and MigrationContext.configure(connection).get_current_heads() == (_newest_revision(),):
        return
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


@cache
def _newest_revision() -> str | None:
    """Remembered, because every migration is loaded to find it."""
    return ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "soulgraph.stores:migrations")
    return config
