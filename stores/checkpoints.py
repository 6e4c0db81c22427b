"""LangGraph's checkpointer, with its tables in our database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import URL

from soulgraph.stores.database import conninfo, database_url
from soulgraph.stores.locks import AdvisoryLocks
from soulgraph.stores.sqlite import NO_AUTO_CHECKPOINT, inline_connection

# Run at start-up: removes the checkpoints of sessions that were deleted, also of those deleted by SQL.
# A first turn that another server runs meanwhile is safe, because its checkpoint is written after its session.
_DELETE_ORPHANS = "DELETE FROM {table} WHERE thread_id NOT IN (SELECT session_id FROM sessions)"


@asynccontextmanager
async def open_checkpointer(raw_url: str) -> AsyncIterator[BaseCheckpointSaver[str]]:
    """A checkpointer on the database of `raw_url`, which must be migrated."""
    url = database_url(raw_url)
    open_saver = _open_sqlite if url.get_backend_name() == "sqlite" else _open_postgres
    async with open_saver(url) as saver:
        yield saver


@asynccontextmanager
async def _open_sqlite(url: URL) -> AsyncIterator[BaseCheckpointSaver[str]]:
    async with inline_connection(str(url.database)) as connection:
        saver = AsyncSqliteSaver(connection)
        await saver.setup()
        await connection.execute("PRAGMA synchronous=NORMAL")
        await connection.execute(NO_AUTO_CHECKPOINT)
        for table in ("checkpoints", "writes"):
            await connection.execute(_DELETE_ORPHANS.format(table=table))
        await connection.commit()
        yield saver


@asynccontextmanager
async def _open_postgres(url: URL) -> AsyncIterator[BaseCheckpointSaver[str]]:
    pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
        conninfo(url),
        min_size=1,
        max_size=10,
        open=False,
        check=AsyncConnectionPool.check_connection,  # replaces connections that broke while they were idle
        kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
    )
    async with pool, AdvisoryLocks.open(url) as locks:
        saver = AsyncPostgresSaver(pool)
        # The set-up must not run on two servers at once. It builds indexes concurrently, which waits for every
        # running statement, so a lock that waits inside a statement would be a deadlock; ours polls.
        async with locks.hold("checkpoint set-up"), pool.connection() as connection:
            await saver.setup()
            for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
                await connection.execute(_DELETE_ORPHANS.format(table=table).encode())
        yield saver
