"""One engine for SQLite and PostgreSQL: how to open it, read from it and write to it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any, Self

from alembic import command
from alembic.config import Config
from sqlalchemy import URL, Connection, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from soulgraph.errors import ConfigurationError
from soulgraph.stores import sqlite

DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_WRITES = "soulgraph_writes"
_MIGRATION_LOCK = 0x5001


def database_url(raw: str) -> URL:
    """The URL with the driver we use; anything but SQLite and PostgreSQL is refused."""
    try:
        url = make_url(raw)
    except ArgumentError as error:
        raise ConfigurationError("SOULGRAPH_DATABASE_URL", f"not a database URL ({error})") from error
    if url.drivername not in DRIVERS:
        raise ConfigurationError(
            "SOULGRAPH_DATABASE_URL",
            f"{url.drivername!r} is not supported: use sqlite:///path/to/file.db or postgresql://user@host/name",
        )
    return url.set(drivername=DRIVERS[url.drivername])


class Database:
    """An engine whose writers queue up instead of failing, on either backend."""

    def __init__(self, engine: AsyncEngine) -> None:
        self.engine = engine
        self._sqlite_writer = asyncio.Lock() if engine.dialect.name == "sqlite" else None

    @classmethod
    @asynccontextmanager
    async def open(cls, raw_url: str) -> AsyncIterator[Self]:
        """Connect and migrate to the newest schema, or say which setting is wrong."""
        url = database_url(raw_url)
        engine = create_async_engine(url, **_engine_options(url))
        if url.get_backend_name() == "sqlite":
            event.listen(engine.sync_engine, "connect", _prepare_sqlite)
            event.listen(engine.sync_engine, "begin", _begin_sqlite)
        try:
            database = cls(engine)
            await database._migrate()
            yield database
        finally:
            await engine.dispose()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        async with self.engine.connect() as connection:
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[AsyncConnection]:
        """A transaction: commits at the end, rolls back on any error."""
        async with self._turn_to_write(), self.engine.connect() as connection:
            await connection.execution_options(**{_WRITES: True})
            async with connection.begin():
                yield connection

    def _turn_to_write(self) -> AbstractAsyncContextManager[Any]:
        return self._sqlite_writer or nullcontext()

    async def _migrate(self) -> None:
        try:
            async with self.write() as connection:
                if self.engine.dialect.name == "postgresql":
                    await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
                await connection.run_sync(_upgrade)
        except (DBAPIError, OSError) as error:
            where = self.engine.url.render_as_string(hide_password=True)
            raise ConfigurationError("SOULGRAPH_DATABASE_URL", f"cannot use {where}: {error}") from error


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", "soulgraph.stores:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _engine_options(url: URL) -> dict[str, Any]:
    if url.get_backend_name() == "sqlite":
        return {"pool_size": 8, "async_creator": lambda: sqlite.Connection(url.database or ":memory:")}
    return {"pool_size": 10, "max_overflow": 10, "pool_pre_ping": True}


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "busy_timeout=10000"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer takes the write lock at once and so never deadlocks; a reader needs no transaction."""
    if connection.get_execution_options().get(_WRITES):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
