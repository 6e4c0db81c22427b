"""Removes what nobody needs any more from the database: finished jobs and old checkpoints, at start-up and every hour.

Everything is done in short transactions with pauses between them, so that turns never wait long. Each of them leaves a
consistent database, and any number of servers may do it at the same time.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from soulgraph.runtime.periodic import Periodic
from soulgraph.stores.stores import Stores, Transaction

PERIOD_S = 3600.0
BATCH = 200
_PAGE = 25
_PAUSE_S = 0.05
_DAY_S = 86_400.0

Remove = Callable[[Transaction], Awaitable[int]]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retention:
    """How long things are kept; 0 is for ever."""

    stores: Stores
    clock: Callable[[], float]
    job_days: float = 0
    checkpoints_kept: int = 0
    checkpoint_days: float = 0

    def running(self) -> AbstractAsyncContextManager[None]:
        return Periodic("retention", PERIOD_S, self.tidy, at_once=True).running()

    async def tidy(self) -> None:
        jobs = await self._remove_jobs()
        checkpoints = await self._remove_checkpoints()
        if jobs or checkpoints:
            _log.info("retention: removed %d finished jobs and %d old checkpoints", jobs, checkpoints)

    async def _remove_jobs(self) -> int:
        before = self.clock() - self.job_days * _DAY_S
        return await self._in_batches(lambda tx: tx.outbox.prune(before, BATCH)) if self.job_days else 0

    async def _remove_checkpoints(self) -> int:
        removed = 0
        async for session_id, newest in self._surplus():
            removed += await self._remove_up_to(session_id, newest)
        return removed

    async def _remove_up_to(self, session_id: str, newest: str) -> int:
        return await self._in_batches(lambda tx: tx.checkpoints.remove(session_id, newest, BATCH))

    async def _in_batches(self, remove: Remove) -> int:
        """Call `remove` in transactions until one removes less than a batch; returns how much was removed."""
        removed, more = 0, True
        while more:
            async with self.stores.write() as tx:
                count = await remove(tx)
            removed, more = removed + count, count == BATCH
            await asyncio.sleep(_PAUSE_S)
        return removed

    async def _surplus(self) -> AsyncIterator[tuple[str, str]]:
        """The sessions that have checkpoints to remove, each with the newest of these."""
        after, more = "", bool(self.checkpoints_kept or self.checkpoint_days)
        while more:
            async with self.stores.read() as tx:
                page = await tx.sessions.last_uses(after, _PAGE)
                found = [(session_id, await self._newest_surplus(tx, session_id, at)) for session_id, at in page]
            for session_id, newest in found:
                if newest:
                    yield session_id, newest
            more = len(page) == _PAGE
            after = page[-1][0] if page else after
            await asyncio.sleep(_PAUSE_S)

    async def _newest_surplus(self, tx: Transaction, session_id: str, used_at: float) -> str | None:
        """Nothing is lost with the last checkpoint: the session's row has the same, except for an interrupted turn."""
        is_idle = self.checkpoint_days and used_at < self.clock() - self.checkpoint_days * _DAY_S
        if is_idle and not await tx.checkpoints.waits(session_id):
            return await tx.checkpoints.newest_surplus(session_id, 0)
        kept = self.checkpoints_kept
        return await tx.checkpoints.newest_surplus(session_id, kept) if kept else None
