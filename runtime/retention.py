"""Removes finished jobs that nobody needs any more, at start-up and every hour.

It is done in short transactions with pauses between them, so that turns never wait long. Each of them leaves a
consistent database, and any number of servers may do it at the same time.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from soulgraph.runtime.periodic import Periodic
from soulgraph.stores.stores import Stores

PERIOD_S = 3600.0
BATCH = 200
_PAUSE_S = 0.05
_DAY_S = 86_400.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retention:
    """How long finished jobs are kept; 0 is for ever."""

    stores: Stores
    clock: Callable[[], float]
    job_days: float = 0

    def running(self) -> AbstractAsyncContextManager[None]:
        return Periodic("retention", PERIOD_S, self.tidy, at_once=True).running()

    async def tidy(self) -> None:
        if self.job_days and (removed := await self._remove_jobs()):
            _log.info("retention: removed %d finished jobs", removed)

    async def _remove_jobs(self) -> int:
        """In transactions, until one removes less than a batch; returns how many were removed."""
        before = self.clock() - self.job_days * _DAY_S
        removed, count = 0, BATCH
        while count == BATCH:
            async with self.stores.write() as tx:
                count = await tx.outbox.prune(before, BATCH)
            removed += count
            await asyncio.sleep(_PAUSE_S)
        return removed
