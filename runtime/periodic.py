"""`Periodic`: calls a coroutine function every few seconds while the server runs, and survives database failures."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from soulgraph.errors import SoulgraphError
from soulgraph.runtime.background import in_background

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Periodic:
    name: str
    period_s: float
    action: Callable[[], Awaitable[None]]
    at_once: bool = False

    def running(self) -> AbstractAsyncContextManager[None]:
        """Call `action` every `period_s` seconds for as long as the block lasts, `at_once` for the first time."""
        return in_background(self._run(), self.name, "ended, and stands still until the server is restarted")

    async def _run(self) -> None:
        due, healthy = time.monotonic() - (self.period_s if self.at_once else 0), True
        while True:
            due = max(due + self.period_s, time.monotonic())  # periods that were missed are skipped, not made up for
            await asyncio.sleep(due - time.monotonic())
            try:
                await self.action()
            except (SoulgraphError, SQLAlchemyError) as error:
                # One warning per outage: a database that is away for an hour must not fill the log.
                if healthy:
                    reason = str(error).partition("\n")[0]
                    _log.warning("%s: %s; trying again every %g s", self.name, reason, self.period_s)
                healthy = False
            else:
                if not healthy:
                    _log.info("%s: going on", self.name)
                healthy = True
