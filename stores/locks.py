"""Locks that let only one turn of a session run at a time: in this process, and among servers on one PostgreSQL."""

import asyncio
import hashlib
import random
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Self

from psycopg import AsyncConnection, OperationalError, sql
from sqlalchemy import URL

from soulgraph.errors import Busy, StoreUnavailable
from soulgraph.stores.database import conninfo

_POLL_S = 0.02
_LIMIT = 64
_RETRY_AFTER_S = 5


class AdvisoryLocks:
    """PostgreSQL advisory locks by name, all on one connection of their own: a held lock takes none from the pool.

    They end with the connection, so a killed server blocks nobody. If the connection breaks in the middle of a turn,
    another server may start a turn too, but the turn number in the session's row lets only one of them be written.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: AsyncConnection | None = None
        self._query_lock = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, url: URL) -> AsyncIterator[Self]:
        locks = cls(conninfo(url))
        try:
            yield locks
        finally:
            if locks._connection:
                await locks._connection.close()

    @asynccontextmanager
    async def hold(self, name: str) -> AsyncIterator[None]:
        """Wait for the lock and hold it for the block; raises StoreUnavailable if the database does not answer."""
        # Advisory locks are numbered, not named: the key is 64 bits of a hash of the name.
        key = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), signed=True)
        try:
            while not await self._call("pg_try_advisory_lock", key):  # noqa: ASYNC110 - the holder is another process
                # Random, so that servers that wait for the same lock do not poll in step.
                await asyncio.sleep(random.uniform(0.5, 1.5) * _POLL_S)
            yield
        finally:
            # Also after a cancelled call: the server may have granted the lock before the call was cancelled.
            await asyncio.shield(self._release(key))

    async def _release(self, key: int) -> None:
        with suppress(StoreUnavailable):  # then the lock has ended with the connection
            await self._call("pg_advisory_unlock", key)

    async def _call(self, function: str, key: int) -> bool:
        """Call a PostgreSQL function with the key; after a broken connection once more on a new one."""
        query = sql.SQL("SELECT {}(%s)").format(sql.Identifier(function))
        async with self._query_lock:
            try:
                with suppress(OperationalError):
                    return await self._execute(query, key)
                return await self._execute(query, key)
            except OperationalError as error:
                raise StoreUnavailable(f"the database does not answer, so no turn can begin: {error}") from error

    async def _execute(self, query: sql.Composed, key: int) -> bool:
        connection = await self._connect()
        cursor = await connection.execute(query, (key,))
        row = await cursor.fetchone()
        return bool(row and row[0])

    async def _connect(self) -> AsyncConnection:
        if self._connection is None or self._connection.closed:
            self._connection = await AsyncConnection.connect(self._conninfo, autocommit=True)
        return self._connection


@dataclass
class _Queue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0


class SessionLocks:
    """A queue of turns per session in this process, and behind it the lock shared by all servers, if there is one."""

    def __init__(self, limit: int = _LIMIT, shared: AdvisoryLocks | None = None) -> None:
        self._limit = limit
        self._shared = shared
        self._queues: dict[str, _Queue] = {}

    def hold(self, session_id: str) -> AbstractAsyncContextManager[None]:
        """Take a place in the session's queue at once; entering the returned context waits for the lock.

        Raises Busy if the queue is full.
        """
        queue = self._queues.setdefault(session_id, _Queue())
        if queue.length >= self._limit:
            raise Busy(f"{queue.length} turns of this session are waiting: send the next one later", _RETRY_AFTER_S)
        queue.length += 1
        return self._acquire(session_id, queue)

    @asynccontextmanager
    async def _acquire(self, session_id: str, queue: _Queue) -> AsyncIterator[None]:
        try:
            waited = queue.lock.locked()
            async with queue.lock, self._acquire_shared(session_id, waited):
                yield
        finally:
            queue.length -= 1
            if not queue.length:
                del self._queues[session_id]

    @asynccontextmanager
    async def _acquire_shared(self, session_id: str, waited: bool) -> AsyncIterator[None]:
        if self._shared is None:
            yield
            return
        if waited:
            # This server held the lock a moment ago: pause for two polls, so that other servers can take it first.
            await asyncio.sleep(2 * _POLL_S)
        async with self._shared.hold(session_id):
            yield
