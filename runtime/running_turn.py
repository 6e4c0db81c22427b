"""A turn under way, as those hear it who wait for it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple

from soulgraph.nodes.answer import Answer
from soulgraph.nodes.state import TurnEvent, Utterance
from soulgraph.voices.stop import Stop

_LAST = ("done", "error")


class WaitIntervals(NamedTuple):
    """Seconds without any event until listeners get a `waiting`, and until they get the next."""

    first_s: float = 2.0
    next_s: float = 5.0


WAIT_INTERVALS = WaitIntervals()


class RunningTurn:
    """Listen to its events, or just wait for its answer. It goes on without you, unless you stop it."""

    def __init__(
        self,
        utterance: Utterance,
        task: asyncio.Task[Answer],
        events: asyncio.Queue[TurnEvent],
        stop: Stop,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.utterance = utterance
        self._task = task
        self._events = events
        self._stop = stop
        self._clock = clock
        self._began = clock()

    async def answer(self) -> Answer:
        return await asyncio.shield(self._task)

    def stop(self) -> None:
        """What people have read of the reply is the whole of it; without a word so far, the turn is not stored."""
        self._stop.request()

    async def events(self, intervals: WaitIntervals = WAIT_INTERVALS) -> AsyncIterator[TurnEvent]:
        """Events as they come, and `waiting` while none does. The timer is the listener's: the graph has none."""
        event, silence_s, awaited = None, intervals.first_s, "turn"
        while event is None or event.event not in _LAST:
            event = await self._next_event(silence_s)
            if event is None:
                silence_s = intervals.next_s
                yield TurnEvent("waiting", {"seconds": round(self._clock() - self._began), "for": awaited})
            else:
                silence_s, awaited = intervals.first_s, "model"
                yield event

    async def _next_event(self, timeout_s: float) -> TurnEvent | None:
        try:
            async with asyncio.timeout(timeout_s):
                return await self._events.get()
        except TimeoutError:
            return None
