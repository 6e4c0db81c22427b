"""A turn that runs on another server, as it is followed from this one; `runtime/turn_relays.py` says how."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import cast

from soulgraph.nodes.state import Utterance
from soulgraph.runtime.bus import Bus
from soulgraph.runtime.silence import WAIT_INTERVALS, WaitIntervals
from soulgraph.runtime.turn_log import EventId, StreamedEvent
from soulgraph.stores.records import Json

ASKED, TOLD = "turn_asked", "turn_told"
"""The topics: what followers ask, and what they are told."""

_RENEW_S = 1.0
_LOST_S = 3.2
"""So long nobody has answered three questions: the server is gone, or the bus is."""


class FollowedTurn:
    """`leave` is called when it is closed."""

    def __init__(self, bus: Bus, wanted: Json, after: EventId | None, leave: Callable[[], object]) -> None:
        self._bus = bus
        self._wanted = wanted
        self._leave = leave
        self._last = str(after) if after else None
        self._attempt = 0
        self._utterance: Utterance | None = None
        self._found = asyncio.Event()
        self._events: asyncio.Queue[StreamedEvent | None] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        self._heard_at = self._loop.time()
        self._timer = self._loop.call_later(_RENEW_S, self._renew)

    @property
    def utterance(self) -> Utterance:
        assert self._utterance is not None, "a turn that was found has its ids"
        return self._utterance

    @property
    def turn_id(self) -> str:
        return self.utterance["turn_id"]

    async def is_found(self, timeout_s: float) -> bool:
        """Ask for it; False if nobody has answered in time."""
        self._ask()
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await self._found.wait()
        return False

    async def events(
        self, intervals: WaitIntervals = WAIT_INTERVALS, after: EventId | None = None
    ) -> AsyncGenerator[StreamedEvent, None]:
        """What came after the event that was given at the beginning; `waiting` comes from the turn's own server."""
        try:
            while event := await self._events.get():
                yield event
                if event.is_last:
                    return
        finally:
            self.close()

    def close(self) -> None:
        self._timer.cancel()
        self._leave()

    def told(self, message: Json) -> None:
        """Take what comes after the last event that was heard; if something is missing before it, ask for that."""
        if message["attempt"] != self._attempt:
            return
        self._heard_at = self._loop.time()
        self._utterance = cast(Utterance, message["turn"])
        self._found.set()
        if message["after"] != self._last:
            self.ask_anew()
            return
        for event in message["events"]:
            self._events.put_nowait(StreamedEvent(*event))
            self._last = event[-1]

    def ask_anew(self) -> None:
        """From where we are, and without anything that is still under way."""
        self._attempt += 1
        self._ask()

    def _ask(self) -> None:
        asked = {"server": self._bus.server_id, "attempt": self._attempt, "after": self._last}
        self._bus.publish(ASKED, self._wanted | asked)

    def _renew(self) -> None:
        if self._loop.time() - self._heard_at > _LOST_S:
            self._events.put_nowait(None)
            return
        self._timer = self._loop.call_later(_RENEW_S, self._renew)
        self._ask()
