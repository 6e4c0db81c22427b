"""Turns that are followed from another server than the one that runs them, over the bus.

A follower asks all servers for a turn and says which event it heard last; whoever has the turn sends what came after.
It asks again every second, which keeps the relay going and shows whether anything was lost: every message says after
which event it comes, so the follower takes none twice and misses none. If nobody answers any more the turn is over, or
its server is gone; what then is true is in the database.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Protocol, cast
from uuid import uuid4

from soulgraph.nodes.state import Utterance
from soulgraph.runtime.bus import Bus
from soulgraph.runtime.followed_turn import ASKED, TOLD, FollowedTurn
from soulgraph.runtime.interest import Interest
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.runtime.silence import WAIT_INTERVALS, WaitIntervals
from soulgraph.runtime.turn_log import EventId, StreamedEvent
from soulgraph.runtime.turns_under_way import TurnsUnderWay
from soulgraph.stores.records import Json

_ANSWER_S = 1.0
"""A busy server takes a while to answer. Only who asks for a turn that is lost waits so long."""
_BATCH_S = 0.02
"""What comes within this time goes in one message: the log makes one token of it."""
_LEASE_S = 5.0
_CLOSE_S = 1.0
_IDS = ("session_id", "input_id", "turn_id", "soul_id", "user_id")
_log = logging.getLogger(__name__)


class FollowableTurn(Protocol):
    """A turn that runs here or elsewhere."""

    @property
    def utterance(self) -> Utterance: ...

    @property
    def turn_id(self) -> str: ...

    def events(
        self, intervals: WaitIntervals = ..., after: EventId | None = ...
    ) -> AsyncGenerator[StreamedEvent, None]:
        """Its events; they break off before the last one if the server that runs it is lost."""
        ...


class _Relay:
    """One turn of this server, as it is sent to one follower."""

    def __init__(self, bus: Bus, asked: Json, turn: RunningTurn) -> None:
        self._bus = bus
        self._follower: str = asked["follower"]
        self._attempt: int = asked["attempt"]
        self._turn = turn
        self._last: str | None = asked["after"]
        self._until = 0.0
        self._task = asyncio.create_task(self._send(), name=f"relay of {turn.turn_id}")
        self.confirm()

    @property
    def task(self) -> asyncio.Task[None]:
        return self._task

    def answers(self, asked: Json) -> bool:
        return bool(asked["attempt"] == self._attempt)

    def confirm(self) -> None:
        """Say what was sent last, and to whom the turn belongs; go on for a while."""
        self._until = asyncio.get_running_loop().time() + _LEASE_S
        self._tell([])

    async def _send(self) -> None:
        after = EventId.parse(self._last) if self._last else None
        async with aclosing(self._turn.events(WAIT_INTERVALS, after)) as events:
            async for event in events:
                if asyncio.get_running_loop().time() > self._until:
                    break
                self._tell([[*event]])
                self._last = event.id
                await asyncio.sleep(_BATCH_S)

    def _tell(self, events: list[list[object]]) -> None:
        utterance = cast(Json, self._turn.utterance)
        ids = {name: utterance[name] for name in _IDS} | {"turn_id": self._turn.turn_id}
        message = {"follower": self._follower, "attempt": self._attempt, "after": self._last, "events": events}
        self._bus.publish(TOLD, message | {"turn": ids})


class TurnRelays:
    def __init__(self, bus: Bus, interest: Interest, turns: TurnsUnderWay) -> None:
        self._bus = bus
        self._interest = interest
        self._turns = turns
        self._relays: dict[str, _Relay] = {}
        self._followed: dict[str, FollowedTurn] = {}
        bus.subscribe(ASKED, self._asked)
        bus.subscribe(TOLD, self._told)
        bus.on_gap(self._ask_again)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Afterwards followers are told how the last turns ended; then they are left alone."""
        yield
        tasks = {relay.task for relay in self._relays.values()}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_CLOSE_S)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def follow_input(self, utterance: Utterance, after: EventId) -> FollowedTurn | None:
        """The turn with this input of this person that another server runs; None if none does."""
        ids = {name: utterance[name] for name in ("session_id", "input_id", "user_id")}
        return await self._follow({"input": ids}, after)

    async def follow_turn(
        self, turn_id: str, after: EventId | None, may_hear: Callable[[Utterance], bool]
    ) -> FollowedTurn | None:
        """The turn with this id that another server runs; None if none does, or it is not theirs to hear."""
        followed = await self._follow({"turn_id": turn_id}, after)
        if followed and not may_hear(followed.utterance):
            followed.close()
            return None
        return followed

    async def _follow(self, wanted: Json, after: EventId | None) -> FollowedTurn | None:
        if not self._interest.servers:
            return None
        name = uuid4().hex
        followed = FollowedTurn(self._bus, {**wanted, "follower": name}, after, lambda: self._followed.pop(name, None))
        self._followed[name] = followed
        if await followed.is_found(_ANSWER_S):
            return followed
        followed.close()
        return None

    def _asked(self, message: Json) -> None:
        if message["server"] == self._bus.server_id:
            return  # who asks has looked here already
        follower: str = message["follower"]
        relay = self._relays.get(follower)
        if relay and relay.answers(message):
            relay.confirm()
        elif turn := self._find(message):
            self._begin(follower, _Relay(self._bus, message, turn))

    def _find(self, message: Json) -> RunningTurn | None:
        if wanted := message.get("input"):
            return self._turns.find_input(cast(Utterance, wanted))
        return self._turns.find(message["turn_id"])

    def _begin(self, follower: str, relay: _Relay) -> None:
        """In place of one that the follower has given up."""
        if earlier := self._relays.get(follower):
            earlier.task.cancel()
        self._relays[follower] = relay

        def end(task: asyncio.Task[None]) -> None:
            if self._relays.get(follower) is relay:
                del self._relays[follower]
            if not task.cancelled() and (error := task.exception()):
                _log.error("%s failed", task.get_name(), exc_info=error)

        relay.task.add_done_callback(end)

    def _told(self, message: Json) -> None:
        if followed := self._followed.get(message["follower"]):
            followed.told(message)

    def _ask_again(self) -> None:
        for followed in list(self._followed.values()):
            followed.ask_anew()
