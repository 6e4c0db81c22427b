"""`Services`: what endpoints need. `server.open_services` builds it, and the app keeps it in `app.state`."""

import asyncio
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends
from fastapi.requests import HTTPConnection

from soulgraph.api.access import Access
from soulgraph.api.metrics import Metrics
from soulgraph.nodes.context import Context, SessionChange
from soulgraph.runtime.afterglow_workers import AfterglowWorkers
from soulgraph.runtime.budget import TokenBudget
from soulgraph.runtime.bus import Bus
from soulgraph.runtime.chat_imports import ChatImports
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.silence import WAIT_INTERVALS, WaitIntervals
from soulgraph.runtime.speech_ports import SpeechPorts
from soulgraph.runtime.stops import Stops
from soulgraph.runtime.turn_relays import TurnRelays
from soulgraph.runtime.turn_runner import TurnRunner
from soulgraph.settings import Settings
from soulgraph.stores.locks import SessionLocks
from soulgraph.stores.records import Session
from soulgraph.stores.stores import Stores
from soulgraph.terminals.presence import Presence
from soulgraph.voices.relay import Relay


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    stores: Stores
    context: Context
    locks: SessionLocks
    runner: TurnRunner
    afterglow: AfterglowWorkers
    presence: Presence
    metrics: Metrics
    access: Access
    budget: TokenBudget
    listeners: Listeners
    imports: ChatImports
    bus: Bus
    stops: Stops
    relays: TurnRelays
    relay: Relay | None
    speech: SpeechPorts
    wait_intervals: WaitIntervals = WAIT_INTERVALS
    simulating: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One simulation at a time: it takes seconds of computing, and turns share the processor with it."""
    backing_up: asyncio.Lock = field(default_factory=asyncio.Lock)
    """One backup at a time: each needs room on the disk."""

    async def forget(self, session_id: str) -> None:
        """Delete the events made from this session alone, and make its summary unfindable.

        Call it before the session is deleted: its provenance, which says which events those are, goes with it.
        """
        if self.context.memory.events:
            await self.context.memory.events.forget_session(session_id)
        if self.context.memory.summaries:
            await self.context.memory.summaries.forget(session_id=session_id)

    def announce_session(self, session: Session, reason: SessionChange, turn_id: str | None = None) -> None:
        """Tell all who take part in a conversation, and owners, that it has changed: they read it anew.

        Call it after the change is stored; of a session that is deleted, with the session as it was.
        """
        self.listeners.session_changed(session, reason, turn_id)

    def now(self) -> float:
        return self.context.clock()


def _services(connection: HTTPConnection) -> Services:
    services: Services = connection.app.state.services
    return services


Served = Annotated[Services, Depends(_services)]
