"""SQLite by Python's own driver. Statements run on the event loop; the module `sqlite` explains why."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy
from sqlalchemy import URL, NullPool, create_engine, event

from soulgraph.stores.database import Connection, Database
from soulgraph.stores.sqlite import BLOCKED_S, NO_AUTO_CHECKPOINT, SMALL_CACHE, retry_while_locked, wal_checkpoints
from soulgraph.stores.statements import Fetched, Statements, dialect_of, raised_as_ours

T = TypeVar("T")

_MAX_PREPARED = 256
_MAX_IDLE = 32
# No isolation level: transactions are begun here, with BEGIN IMMEDIATE.
_OPTIONS: dict[str, Any] = {"isolation_level": None, "timeout": BLOCKED_S}


class SqliteDatabase(Database):
    def __init__(self, url: URL) -> None:
        self.url = url
        self._path = str(url.database)
        self._writer = asyncio.Lock()
        # No limit: to wait for a free one would block the event loop, and with it its holder.
        self._idle: list[sqlite3.Connection] = []

    def upkeep(self) -> AbstractAsyncContextManager[None]:
        return wal_checkpoints(Path(self._path))

    async def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Connection]:
        driver = self._take()
        try:
            yield _Statements(driver)
        finally:
            self._give_back(driver)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Connection]:
        async with self._transaction("BEGIN") as connection:
            yield connection

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Connection]:
        # Taking the write lock at once, not at the first write, means no two transactions can deadlock.
        async with self._writer, self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    async def run_sync(self, work: Callable[[sqlalchemy.Connection], T]) -> T:
        engine = create_engine(self.url, poolclass=NullPool, hide_parameters=True, connect_args=_OPTIONS)
        event.listen(engine, "connect", lambda driver, _: _set_up(driver))
        async with self._writer:
            with engine.connect() as connection, connection.begin():
                await retry_while_locked(lambda: connection.exec_driver_sql("BEGIN IMMEDIATE"))
                return work(connection)

    @asynccontextmanager
    async def _transaction(self, begin: str) -> AsyncIterator[Connection]:
        driver = self._take()
        try:
            with raised_as_ours(begin, sqlite3, _Statements.dialect):
                await retry_while_locked(lambda: driver.execute(begin))
            yield _Statements(driver)
            with raised_as_ours("COMMIT", sqlite3, _Statements.dialect):
                driver.commit()
        finally:
            self._give_back(driver)

    def _take(self) -> sqlite3.Connection:
        if self._idle:
            return self._idle.pop()
        with raised_as_ours("", sqlite3, _Statements.dialect):
            driver: sqlite3.Connection = sqlite3.connect(
                self._path, check_same_thread=False, cached_statements=_MAX_PREPARED, **_OPTIONS
            )
            _set_up(driver)
        return driver

    def _give_back(self, driver: sqlite3.Connection) -> None:
        driver.rollback()  # what was not committed; else this does nothing
        if len(self._idle) < _MAX_IDLE:
            self._idle.append(driver)
        else:
            driver.close()


class _Statements(Statements):
    dialect = dialect_of("sqlite")
    driver_module = sqlite3

    def __init__(self, driver: sqlite3.Connection) -> None:
        self.driver = driver

    async def _execute(self, sql: str, bound: Any) -> Fetched:
        cursor = self.driver.execute(sql, bound)
        return Fetched(cursor.fetchall(), cursor.description, cursor.rowcount)

    async def _execute_many(self, sql: str, batch: Sequence[Any]) -> int:
        return self.driver.executemany(sql, batch).rowcount


def _set_up(driver: Any) -> None:
    # SQLite does not enforce foreign keys unless each connection asks for it.
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        driver.execute(f"PRAGMA {pragma}")
    driver.execute(NO_AUTO_CHECKPOINT)
    driver.execute(SMALL_CACHE)
