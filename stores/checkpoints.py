"""LangGraph's checkpointer, with its tables in our database."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import URL

from soulgraph.errors import StoreUnavailable
from soulgraph.stores.database import conninfo, database_url
from soulgraph.stores.failures import translated
from soulgraph.stores.locks import AdvisoryLocks
from soulgraph.stores.sqlite import NO_AUTO_CHECKPOINT, SMALL_CACHE, inline_connection

# Run at start-up: removes the checkpoints of sessions that were deleted, also of those deleted by SQL.
# A first turn that another server runs meanwhile is safe, because its checkpoint is written after its session.
_DELETE_ORPHANS = "DELETE FROM {table} WHERE thread_id NOT IN (SELECT session_id FROM sessions)"

_log = logging.getLogger(__name__)


class _Redundant(BaseCheckpointSaver[str]):
    """A saver whose failure costs no turn: when it writes, the session's row has the same already.

    One that cannot be read, or not be deleted, raises StoreUnavailable.
    """

    _healthy = True

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        with translated():
            return await super().aget_tuple(config)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        async with self._forgiven():
            await super().aput(config, checkpoint, metadata, new_versions)
        ids = {name: config["configurable"][name] for name in ("thread_id", "checkpoint_ns")}
        return {"configurable": {**ids, "checkpoint_id": checkpoint["id"]}}

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        async with self._forgiven():
            await super().aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        async with self._undone():
            await super().adelete_thread(thread_id)

    @asynccontextmanager
    async def _forgiven(self) -> AsyncIterator[None]:
        try:
            async with self._undone():
                yield
        except StoreUnavailable as error:
            if self._healthy:  # one warning until one is written again: a disk may be full for days
                _log.warning("checkpoints are left out, and nothing is lost with them: %s", error.__cause__)
            self._healthy = False
        else:
            self._healthy = True

    @asynccontextmanager
    async def _undone(self) -> AsyncIterator[None]:
        """What a block has begun is taken back if it fails."""
        with translated():
            yield


class _SqliteCheckpoints(_Redundant, AsyncSqliteSaver):
    @asynccontextmanager
    async def _undone(self) -> AsyncIterator[None]:
        """A transaction that fails stays open in SQLite, and nobody else could write."""
        try:
            async with super()._undone():
                yield
        except StoreUnavailable:
            async with self.lock:
                await self.conn.rollback()
            raise


class _PostgresCheckpoints(_Redundant, AsyncPostgresSaver):
    pass


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
        saver = _SqliteCheckpoints(connection)
        await saver.setup()
        await connection.execute("PRAGMA synchronous=NORMAL")
        await connection.execute(NO_AUTO_CHECKPOINT)
        await connection.execute(SMALL_CACHE)
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
        saver = _PostgresCheckpoints(pool)
        # The set-up must not run on two servers at once. It builds indexes concurrently, which waits for every
        # running statement, so a lock that waits inside a statement would be a deadlock; ours polls.
        async with locks.hold("checkpoint set-up"), pool.connection() as connection:
            await saver.setup()
            for table in ("checkpoints", "checkpoint_blobs", "checkpoint_writes"):
                await connection.execute(_DELETE_ORPHANS.format(table=table).encode())
        yield saver
