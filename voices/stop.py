"""A turn may be stopped while it runs: what people have read by then is its reply.

`with stoppable() as stop:` lets the code inside be interrupted by `stop.request()`, but only where it allows that with
`interruptible`: while it waits for its turn or for the model, never while it writes or moves a device.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from soulgraph.errors import TurnStopped


class Stop:
    """`requested` as soon as somebody asks for it; `heeded` once that has cut the reply short."""

    def __init__(self) -> None:
        self.requested = False
        self.heeded = False
        self._waiting: asyncio.Timeout | None = None

    def request(self) -> None:
        self.requested = True
        if self._waiting:
            self._waiting.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def interruptible(self) -> AsyncIterator[None]:
        """Raises TurnStopped out of the block as soon as a stop is requested, also if that was before it."""
        try:
            async with asyncio.timeout(0 if self.requested else None) as self._waiting:
                yield
        except TimeoutError as error:
            if not (self._waiting and self._waiting.expired()):  # it is somebody else's
                raise
            self.heeded = True
            raise TurnStopped("the turn was stopped before its first word, and was not stored") from error
        finally:
            self._waiting = None


_current_stop: ContextVar[Stop | None] = ContextVar("stop", default=None)


@contextmanager
def stoppable(stop: Stop) -> Iterator[None]:
    before = _current_stop.set(stop)
    try:
        yield
    finally:
        _current_stop.reset(before)


def current_stop() -> Stop:
    """The stop of the turn around the caller; outside of all, one that nobody requests."""
    return _current_stop.get() or Stop()
