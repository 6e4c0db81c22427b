"""One turn at a time per session: in this process always, and among all servers on one PostgreSQL."""

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
    """Named PostgreSQL locks, all on one connection of our own: a held lock costs no pooled connection.

    They vanish with the connection, so a killed server blocks nobody. Should the connection break in the
    middle of a turn, the turn number in the session's row still refuses a second writer.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection: AsyncConnection | None = None
        self._one_question = asyncio.Lock()

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
        key = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), signed=True)
        try:
            while not await self._ask("pg_try_advisory_lock", key):  # noqa: ASYNC110 - the holder is another process
                await asyncio.sleep(random.uniform(0.5, 1.5) * _POLL_S)
            yield
        finally:
            # A question that was cancelled may have been answered with the lock, so it is always given back.
            await asyncio.shield(self._release(key))

    async def _release(self, key: int) -> None:
        with suppress(StoreUnavailable):  # then the lock has vanished with the connection
            await self._ask("pg_advisory_unlock", key)

    async def _ask(self, function: str, key: int) -> bool:
        query = sql.SQL("SELECT {}(%s)").format(sql.Identifier(function))
        async with self._one_question:
            try:
                with suppress(OperationalError):  # a connection that broke meanwhile is replaced once
                    return await self._answer(query, key)
                return await self._answer(query, key)
            except OperationalError as error:
                raise StoreUnavailable(f"the database does not answer, so no turn can begin: {error}") from error

    async def _answer(self, query: sql.Composed, key: int) -> bool:
        cursor = await (await self._connected()).execute(query, (key,))
        row = await cursor.fetchone()
        return bool(row and row[0])

    async def _connected(self) -> AsyncConnection:
        if self._connection is None or self._connection.closed:
            self._connection = await AsyncConnection.connect(self._conninfo, autocommit=True)
        return self._connection


@dataclass
class _Queue:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    length: int = 0


class SessionLocks:
    """A queue per session, and behind it the lock that all servers share, where there is one."""

    def __init__(self, limit: int = _LIMIT, shared: AdvisoryLocks | None = None) -> None:
        self._limit = limit
        self._shared = shared
        self._queues: dict[str, _Queue] = {}

    def hold(self, session_id: str) -> AbstractAsyncContextManager[None]:
        """A place in the session's queue, taken at once; entering it waits for the turn to come."""
        queue = self._queues.setdefault(session_id, _Queue())
        if queue.length >= self._limit:
            raise Busy(f"{queue.length} turns of this session are waiting: send the next one later", _RETRY_AFTER_S)
        queue.length += 1
        return self._held(session_id, queue)

    @asynccontextmanager
    async def _held(self, session_id: str, queue: _Queue) -> AsyncIterator[None]:
        try:
            waited = queue.lock.locked()
            async with queue.lock, self._among_servers(session_id, waited):
                yield
        finally:
            queue.length -= 1
            if not queue.length:
                del self._queues[session_id]

    @asynccontextmanager
    async def _among_servers(self, session_id: str, waited: bool) -> AsyncIterator[None]:
        if self._shared is None:
            yield
            return
        if waited:  # the lock was ours a moment ago: let the other servers ask for it first
            await asyncio.sleep(2 * _POLL_S)
        async with self._shared.hold(session_id):
            yield
