"""A fair share of the event loop for each client of the embedded broker."""

import asyncio
import time
from collections import deque

_SLICE_S = 0.002


class FairShare:
    """In each round of the event loop one client is worked for: the one that has waited longest.

    However many clients send however much, whatever else the process does comes between any two of them.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._taken = False

    async def wait(self) -> None:
        """Return when it is this client's round. The round ends by itself."""
        if not self._taken:
            self._begin_round()
            return
        waiter = self._loop.create_future()
        self._waiting.append(waiter)
        await waiter

    def _begin_round(self) -> None:
        self._taken = True
        self._loop.call_soon(self._end_round)

    def _end_round(self) -> None:
        self._taken = False
        while self._waiting and not self._taken:
            waiter = self._waiting.popleft()
            if not waiter.done():  # it is, if its client has been cancelled
                waiter.set_result(None)
                self._begin_round()


class Slice:
    """The work of one client: it may go on for some milliseconds, then others come first; not if it is `exempt`."""

    def __init__(self, share: FairShare) -> None:
        self._share = share
        self._ends_at = 0.0
        self.exempt = False

    async def begin(self) -> None:
        if not self.exempt:
            await self._share.wait()
        self._ends_at = time.perf_counter() + _SLICE_S

    async def go_on(self) -> None:
        if time.perf_counter() > self._ends_at:
            await self.begin()
