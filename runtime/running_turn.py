"""A turn under way, as those hear it who wait for it."""

import asyncio
from collections.abc import AsyncGenerator

from soulgraph.nodes.answer import Answer
from soulgraph.nodes.state import Utterance
from soulgraph.runtime.silence import WAIT_INTERVALS, WaitIntervals
from soulgraph.runtime.turn_log import EventId, StreamedEvent, TurnLog
from soulgraph.voices.stop import Stop


class RunningTurn:
    """Listen to its events, or just wait for its answer. It goes on without you, unless you stop it."""

    def __init__(self, utterance: Utterance, task: asyncio.Task[Answer], log: TurnLog, stop: Stop) -> None:
        self.utterance = utterance
        self._task = task
        self._log = log
        self._stop = stop

    @property
    def turn_id(self) -> str:
        """The id under which it is stored: of an input that was heard before, it is known once the turn has begun."""
        return self._log.turn_id

    @property
    def has_failed(self) -> bool:
        return self._task.done() and (self._task.cancelled() or self._task.exception() is not None)

    async def answer(self) -> Answer:
        return await asyncio.shield(self._task)

    async def ended(self) -> None:
        """Wait for its end, whatever that is."""
        await asyncio.wait({self._task})

    @property
    def is_stopping(self) -> bool:
        return self._stop.requested

    def stop(self) -> None:
        """What people have read of the reply is the whole of it; without a word so far, the turn is not stored."""
        self._stop.request()

    def events(
        self, intervals: WaitIntervals = WAIT_INTERVALS, after: EventId | None = None
    ) -> AsyncGenerator[StreamedEvent, None]:
        """Events as they come, from the beginning or after one that was heard, and `waiting` while none does."""
        return self._log.read(after, intervals)
