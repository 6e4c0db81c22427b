"""One door to SQLite and PostgreSQL: how to open it, read from it and write to it."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol, TypeVar

import sqlalchemy
from alembic import command
from alembic.config import Config
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


def database_url(raw: str) -> URL:
    """The URL with the driver we use; anything but SQLite and PostgreSQL is refused."""
    try:
        url = make_url(raw)
    except (ArgumentError, ValueError) as error:
        raise ConfigurationError("SOULGRAPH_DATABASE_URL", "not a database URL") from error
    if url.drivername not in DRIVERS:
        raise ConfigurationError(
            "SOULGRAPH_DATABASE_URL",
            f"{url.drivername!r} is not supported: use sqlite:///path/to/file.db or postgresql://user@host/name",
        )
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise ConfigurationError("SOULGRAPH_DATABASE_URL", "SQLite needs a file: use sqlite:///path/to/file.db")
    return url.set(drivername=DRIVERS[url.drivername])


def conninfo(url: URL) -> str:
    """The URL as PostgreSQL's own library reads it; the two disagree about spaces."""
    where: dict[str, Any] = {**url.translate_connect_args(username="user", database="dbname"), **url.query}
    return make_conninfo(**where)


class Connection(Protocol):
    """What a repository needs of a connection; SQLAlchemy's AsyncConnection is one."""

    @property
    def dialect(self) -> Dialect: ...

    async def execute(self, statement: Executable, parameters: Any = None, /) -> CursorResult[Any]: ...

    async def run_sync(self, work: Callable[[sqlalchemy.Connection], T], /) -> T: ...


class Database(ABC):
    url: URL

    @staticmethod
    @asynccontextmanager
    async def open(raw_url: str) -> AsyncIterator["Database"]:
        """Connect and migrate to the newest schema, or say which setting is wrong."""
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
    def write(self) -> AbstractAsyncContextManager[Connection]:
        """A transaction: commits at the end, rolls back on any error. Writers queue up, they never fail for it."""

    def upkeep(self) -> AbstractAsyncContextManager[None]:
        """What has to be done while it is open."""
        return nullcontext()

    @abstractmethod
    async def close(self) -> None: ...


class _Postgres(Database):
    def __init__(self, url: URL) -> None:
        self.url = url
        self._engine = create_async_engine(url, pool_size=10, max_overflow=10, pool_pre_ping=True)

    async def close(self) -> None:
        await self._engine.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Connection]:
        async with self._engine.connect() as connection:
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Connection]:
        async with self._engine.begin() as connection:
            yield connection


class _Sqlite(Database):
    """Statements run on the event loop (`sqlite` says why), so a transaction is never interrupted by another."""

    def __init__(self, url: URL) -> None:
        self.url = url
        self._writer = asyncio.Lock()
        patience = {"isolation_level": None, "timeout": BLOCKED_S}
        self._engine = create_engine(url, max_overflow=-1, connect_args=patience)
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
    async def write(self) -> AsyncIterator[Connection]:
        async with self._writer:
            with self._engine.connect() as connection, connection.begin():
                # The write lock is taken at once, so that no two transactions can wait for each other.
                await retry_while_locked(lambda: connection.exec_driver_sql("BEGIN IMMEDIATE"))
                yield _Inline(connection)


class _Inline:
    """A connection whose statements run where they are awaited."""

    def __init__(self, connection: sqlalchemy.Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect

    async def execute(self, statement: Executable, parameters: Any = None, /) -> CursorResult[Any]:
        return self._connection.execute(statement, parameters)

    async def run_sync(self, work: Callable[[sqlalchemy.Connection], T], /) -> T:
        return work(self._connection)


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute(NO_AUTO_CHECKPOINT)


async def _migrate(database: Database) -> None:
    try:
        async with database.write() as connection:
            if connection.dialect.name == "postgresql":
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            await connection.run_sync(_upgrade)
    except (DBAPIError, OSError, CommandError) as error:
        where, why = database.url.render_as_string(hide_password=True), getattr(error, "orig", error)
        raise ConfigurationError("SOULGRAPH_DATABASE_URL", f"cannot use {where}: {why}") from error


def _upgrade(connection: sqlalchemy.Connection) -> None:
    config = Config()
    config.set_main_option("script_location", "soulgraph.stores:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
