"""Wakes a reader when there is something new, and when there has been nothing for a while."""

import asyncio
from typing import NamedTuple


class WaitIntervals(NamedTuple):
    """Seconds without any event until listeners get a `waiting`, and until they get the next."""

    first_s: float = 2.0
    next_s: float = 5.0


WAIT_INTERVALS = WaitIntervals()


class Silence:
    """Of one reader. It has one timer, however many events come: a timer for each would cost more than the event."""

    def __init__(self, intervals: WaitIntervals = WAIT_INTERVALS) -> None:
        self._intervals = intervals
        self._loop = asyncio.get_running_loop()
        self._limit_s = intervals.first_s
        self._since = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._waiter: asyncio.Future[bool] | None = None

    def wake(self) -> None:
        """Tell the reader, if it waits, that there is something new."""
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(True)

    async def wait(self) -> bool:
        """True when there is something new, False after a silence; the first one is shorter than those that follow."""
        self._since = self._loop.time()
        self._waiter = self._loop.create_future()
        due = self._since + self._limit_s
        if self._timer is None or self._timer.when() > due:
            self.close()
            self._timer = self._loop.call_at(due, self._ring)
        woken = await self._waiter
        self._limit_s = self._intervals.first_s if woken else self._intervals.next_s
        return woken

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()

    def _ring(self) -> None:
        """The timer was set for an earlier wait, perhaps: then it goes on for what is left of this one."""
        due = self._since + self._limit_s
        self._timer = None
        if self._loop.time() < due:
            self._timer = self._loop.call_at(due, self._ring)
        elif self._waiter and not self._waiter.done():
            self._waiter.set_result(False)
