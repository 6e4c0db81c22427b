"""PostgreSQL by psycopg. Outside of transactions every statement is one of its own: a read needs no BEGIN."""

import select
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import psycopg
import sqlalchemy
from psycopg.pq import TransactionStatus
from sqlalchemy import URL, NullPool, text
from sqlalchemy.ext.asyncio import create_async_engine

from soulgraph.stores.database import DRIVERS, Connection, Database, conninfo
from soulgraph.stores.pool import Pool
from soulgraph.stores.statements import Fetched, Statements, dialect_of, raised_as_ours

T = TypeVar("T")
_Driver = psycopg.AsyncConnection[Any]

_MAX_CONNECTIONS = 20
_MIGRATION_LOCK = 0x5001


class PostgresDatabase(Database):
    def __init__(self, url: URL) -> None:
        self.url = url
        self._pool = Pool(self._connect, _close, _is_usable, _ping, _MAX_CONNECTIONS)

    async def close(self) -> None:
        await self._pool.close()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Connection]:
        async with self._pool.lend() as driver:
            yield _Statements(driver)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Connection]:
        async with self._pool.lend() as driver, driver.transaction():
            await driver.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield _Statements(driver)

    @asynccontextmanager
    async def write(self) -> AsyncIterator[Connection]:
        async with self._pool.lend() as driver, driver.transaction():
            yield _Statements(driver)

    async def run_sync(self, work: Callable[[sqlalchemy.Connection], T]) -> T:
        """Servers that start together migrate one after the other."""
        engine = create_async_engine(self.url, poolclass=NullPool, hide_parameters=True)
        async with engine.begin() as connection:
            await connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
            return await connection.run_sync(work)

    async def _connect(self) -> _Driver:
        with raised_as_ours("", psycopg, dialect_of(DRIVERS["postgresql"])):
            return await psycopg.AsyncConnection.connect(conninfo(self.url), autocommit=True)


class _Statements(Statements):
    dialect = dialect_of(DRIVERS["postgresql"])
    driver_module = psycopg

    def __init__(self, driver: _Driver) -> None:
        self.driver = driver

    async def _execute(self, sql: str, bound: Any) -> Fetched:
        cursor = await self.driver.execute(sql.encode(), bound)
        rows = await cursor.fetchall() if cursor.description else ()
        return Fetched(rows, cursor.description, cursor.rowcount)

    async def _execute_many(self, sql: str, batch: Sequence[Any]) -> int:
        async with self.driver.cursor() as cursor:
            await cursor.executemany(sql.encode(), batch)
            return cursor.rowcount


async def _close(driver: _Driver) -> None:
    await driver.close()


def _is_usable(driver: _Driver) -> bool:
    """Not one that a cancelled statement has left in the middle of something, nor one that has been hung up on."""
    if driver.closed or driver.info.transaction_status != TransactionStatus.IDLE:
        return False
    hung_up, _, _ = select.select([driver.fileno()], [], [], 0)  # an idle one has nothing to say but that
    return not hung_up


async def _ping(driver: _Driver) -> bool:
    """PostgreSQL may have been restarted while nobody asked for anything."""
    try:
        await driver.execute("")
    except psycopg.OperationalError:
        return False
    return True
