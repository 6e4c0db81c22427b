"""Stops turns on whichever server they run: the order goes to all, and each answers which of its turns it has stopped.

Who may stop a turn is decided where it runs, because only there is it known who speaks in it.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple
from uuid import uuid4

from soulgraph.nodes.state import Utterance
from soulgraph.runtime.bus import Bus
from soulgraph.runtime.interest import Interest
from soulgraph.runtime.turn_runner import TurnRunner
from soulgraph.stores.records import Json

_TIMEOUT_S = 1.0


class StopOrder(NamedTuple):
    """Which turns, and what of the caller decides whether they may stop them.

    `person` is whose turns (None: everybody's); who `is_nobody` is a terminal; without `soul_ids` all souls are meant.
    """

    session_id: str
    input_id: str | None
    person: str | None
    is_nobody: bool
    soul_ids: tuple[str, ...]

    def covers(self, utterance: Utterance) -> bool:
        is_meant = self.input_id is None or utterance["input_id"] == self.input_id
        is_theirs = self.person in (None, utterance["user_id"]) and not self.is_nobody
        is_theirs |= self.is_nobody and utterance.get("terminal_id") is not None
        return is_meant and is_theirs and (not self.soul_ids or utterance["soul_id"] in self.soul_ids)


class _Request:
    """An order whose answers are awaited from these servers."""

    def __init__(self, servers: set[str]) -> None:
        self.id = uuid4().hex
        self.turn_ids: list[str] = []
        self.answered = asyncio.Event()
        self._silent = servers

    def answer(self, server_id: str, turn_ids: list[str]) -> None:
        self.turn_ids += turn_ids
        self._silent.discard(server_id)
        if not self._silent:
            self.answered.set()


class Stops:
    def __init__(self, bus: Bus, interest: Interest, runner: TurnRunner) -> None:
        self._bus = bus
        self._interest = interest
        self._runner = runner
        self._requests: dict[str, _Request] = {}
        bus.subscribe("stop", self._obey)
        bus.subscribe("stopped", self._note)

    async def stop(self, order: StopOrder) -> list[str]:
        """Stop the turns of this server at once, then those of others; returns the ids of all.

        A server that does not answer within a second is not waited for.
        """
        turn_ids = self._stop_here(order)
        is_done = bool(turn_ids) and order.input_id is not None
        servers = self._interest.servers
        if is_done or not servers:
            return turn_ids
        async with self._asking(servers) as request:
            self._bus.publish("stop", {"order": order, "request_id": request.id, "server_id": self._bus.server_id})
            with suppress(TimeoutError):
                await asyncio.wait_for(request.answered.wait(), _TIMEOUT_S)
        return [*turn_ids, *request.turn_ids]

    @asynccontextmanager
    async def _asking(self, servers: set[str]) -> AsyncIterator[_Request]:
        request = _Request(servers)
        self._requests[request.id] = request
        try:
            yield request
        finally:
            del self._requests[request.id]

    def _stop_here(self, order: StopOrder) -> list[str]:
        turns = [turn for turn in self._runner.running_in(order.session_id) if order.covers(turn.utterance)]
        for turn in turns:
            turn.stop()
        return [turn.turn_id for turn in turns]

    def _obey(self, message: Json) -> None:
        if message["server_id"] == self._bus.server_id:
            return
        turn_ids = self._stop_here(StopOrder(*message["order"]))
        answer = {"request_id": message["request_id"], "server_id": self._bus.server_id, "turn_ids": turn_ids}
        self._bus.publish("stopped", answer)

    def _note(self, message: Json) -> None:
        if request := self._requests.get(message["request_id"]):
            request.answer(message["server_id"], message["turn_ids"])
