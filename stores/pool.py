"""A pool of connections to a database."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from sqlalchemy.exc import TimeoutError as PoolTimeout

C = TypeVar("C")

_TIMEOUT_S = 30.0
_IDLE_S = 1.0
"""A connection that was used within this time is taken to be alive."""


class Pool(Generic[C]):
    """Connections are made when they are asked for, so that a database that is away is known at once.

    `is_usable` says at a glance whether one may be lent again, `ping` asks one that lay idle; what fails is closed.
    """

    def __init__(
        self,
        connect: Callable[[], Awaitable[C]],
        close: Callable[[C], Awaitable[None]],
        is_usable: Callable[[C], bool],
        ping: Callable[[C], Awaitable[bool]],
        size: int,
    ) -> None:
        self._connect = connect
        self._close = close
        self._is_usable = is_usable
        self._ping = ping
        self._places = asyncio.Semaphore(size)
        self._idle: list[tuple[C, float]] = []

    @asynccontextmanager
    async def lend(self) -> AsyncIterator[C]:
        """Raises PoolTimeout if all are lent for too long."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                await self._places.acquire()
        except TimeoutError as error:
            raise PoolTimeout("all connections to the database are in use") from error
        try:
            connection = await self._take()
            try:
                yield connection
            finally:
                await self._give_back(connection)
        finally:
            self._places.release()

    async def close(self) -> None:
        while self._idle:
            await self._close(self._idle.pop()[0])

    async def _take(self) -> C:
        """The one that was used last: those that are not needed stay idle."""
        while self._idle:
            connection, since = self._idle.pop()
            is_fresh = time.monotonic() - since < _IDLE_S
            if self._is_usable(connection) and (is_fresh or await self._ping(connection)):
                return connection
            await self._close(connection)
        return await self._connect()

    async def _give_back(self, connection: C) -> None:
        if self._is_usable(connection):
            self._idle.append((connection, time.monotonic()))
        else:
            await self._close(connection)
