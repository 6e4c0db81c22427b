"""`Database`: SQLite and PostgreSQL behind one interface, with migrations, read connections and write transactions."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import sqlalchemy
from psycopg.conninfo import make_conninfo
from sqlalchemy import URL, Dialect, Executable, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError

from soulgraph.errors import ConfigurationError
from soulgraph.stores.statements import NO_VALUES, Result, Values

T = TypeVar("T")

DRIVERS = {
    "sqlite": "sqlite",
    "postgres": "postgresql+psycopg",
    "postgresql": "postgresql+psycopg",
    "postgresql+psycopg": "postgresql+psycopg",
}
_MIGRATIONS = Path(__file__).parent / "migrations"


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
    """What repositories use of a connection."""

    dialect: Dialect

    async def execute(self, statement: Executable, parameters: Values | Sequence[Values] = NO_VALUES, /) -> Result:
        """Run a statement; with a list of values, once for each of them."""
        ...


class Database(ABC):
    """The backends are `SqliteDatabase` and `PostgresDatabase`."""

    url: URL

    @staticmethod
    @asynccontextmanager
    async def open(raw_url: str) -> AsyncIterator["Database"]:
        """Connect and migrate to the newest schema; raises ConfigurationError if that fails."""
        database = _backend(raw_url)
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

    @abstractmethod
    async def run_sync(self, work: Callable[[sqlalchemy.Connection], T]) -> T:
        """Do what needs a connection of SQLAlchemy's own, as migrations do, in one transaction."""

    def upkeep(self) -> AbstractAsyncContextManager[None]:
        """Background work that is needed while the database is open; by default none."""
        return nullcontext()

    @abstractmethod
    async def close(self) -> None: ...


def _backend(raw_url: str) -> Database:
    # Imported here: both need this module, and each loads a driver that the other does without.
    url = database_url(raw_url)
    if url.get_backend_name() == "sqlite":
        from soulgraph.stores.sqlite_database import SqliteDatabase

        return SqliteDatabase(url)
    from soulgraph.stores.postgres_database import PostgresDatabase

    return PostgresDatabase(url)


async def migrated_to(raw_url: str, revision: str) -> None:
    """Give a database the schema of this revision, for what was stored under it."""
    database = _backend(raw_url)
    try:
        await _migrate(database, revision)
    finally:
        await database.close()


def knows_revision(revision: str) -> bool:
    return revision in revisions()


async def _migrate(database: Database, revision: str = "head") -> None:
    try:
        await database.run_sync(lambda connection: _upgrade(connection, revision))
    except (DBAPIError, OSError, _alembic_error()) as error:
        url = database.url.render_as_string(hide_password=True)
        reason = getattr(error, "orig", error)
        raise ConfigurationError("SOULGRAPH_DATABASE_URL", f"cannot use {url}: {reason}") from error


def _upgrade(connection: sqlalchemy.Connection, revision: str) -> None:
    if revision == "head" and _stored_revisions(connection) == revisions()[-1:]:
        return
    # Alembic is imported where there is something to migrate: most starts have nothing, and would take longer for it.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "soulgraph.stores:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


def _stored_revisions(connection: sqlalchemy.Connection) -> list[str]:
    """Those that the database has been brought to: one, or none if it is new."""
    if not sqlalchemy.inspect(connection).has_table("alembic_version"):
        return []
    return [*connection.execute(text("SELECT version_num FROM alembic_version")).scalars()]


@cache
def revisions() -> list[str]:
    """All from the oldest to the newest, by the names of their files: r0001_frame.py."""
    found = (_MIGRATIONS / "versions").glob("r*.py")
    return sorted(path.name[1:5] for path in found)


def _alembic_error() -> type[Exception]:
    from alembic.util import CommandError

    return CommandError
