"""Something that is done every few seconds for as long as the server runs, whatever the database does meanwhile."""

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
class Rounds:
    name: str
    period_s: float
    go: Callable[[], Awaitable[None]]

    def running(self) -> AbstractAsyncContextManager[None]:
        """Going round for as long as the block lasts."""
        return in_background(self._run(), self.name, "ended, and stands still until the server is restarted")

    async def _run(self) -> None:
        due, well = time.monotonic(), True
        while True:
            due = max(due + self.period_s, time.monotonic())  # a round that was missed is not made up for
            await asyncio.sleep(due - time.monotonic())
            try:
                await self.go()
            except (SoulgraphError, SQLAlchemyError) as error:
                if well:
                    reason = str(error).partition("\n")[0]
                    _log.warning("%s: %s; trying again every %g s", self.name, reason, self.period_s)
                well = False
            else:
                if not well:
                    _log.info("%s: going on", self.name)
                well = True
