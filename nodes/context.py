"""The ports of a turn, in groups: what a node sees of the world. They are opened in `runtime/ports.py`.

A test of a node builds the groups that the node uses and leaves the others at their defaults.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, Literal, Protocol

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.memory.events import EventLibrary
from soulgraph.memory.recall import Recall
from soulgraph.memory.summaries import Summaries
from soulgraph.memory.upkeep import MemoryHealth
from soulgraph.prompts.contract import Carrier
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.senses.plans.sense import PlanSense
from soulgraph.senses.ports import Embedder, EmotionRecogniser
from soulgraph.senses.surprise.sense import SurpriseSense
from soulgraph.soul.constants import Constants
from soulgraph.soul.emotion_report import EmotionReport
from soulgraph.stores.locks import SessionLocks
from soulgraph.stores.records import Json, Session, UsageKind
from soulgraph.stores.stores import Stores, Transaction
from soulgraph.stores.workspace import Workspaces
from soulgraph.terminals.hub_port import Hub
from soulgraph.voices.usage import Usage
from soulgraph.voices.voice import Voice

ListenerEvent = Literal[
    "proactive",
    "state_changed",
    "plans_changed",
    "session_changed",
    "presence",
    "emotion_update",
    "node",
    "listening",
    "pong",
]
SessionChange = Literal["turn", "edited", "persona", "title", "deleted", "created"]
"""What has become different in a conversation."""


class Telemetry(Protocol):
    """What a turn reports of itself, to the telemetry file and to the trace it runs in."""

    def emit(self, event: str, **fields: Any) -> None:
        """One decision and its grounds."""
        ...

    def label(self, **labels: str) -> None:
        """Put labels on every run of the trace."""
        ...

    def labels(self) -> dict[str, str]:
        """The labels so far."""
        ...

    def keep_private(self, *texts: str) -> None:
        """Texts that no trace shows unless it may show everything."""
        ...


class Budget(Protocol):
    def metering(self, soul_id: str, kind: UsageKind) -> AbstractAsyncContextManager[None]:
        """Counts the model calls inside the block and writes down what they cost."""
        ...

    def background(self, soul_id: str, kind: UsageKind) -> AbstractAsyncContextManager[None]:
        """For model calls that nobody waits for: refused with BudgetExhausted when the soul's day is spent."""
        ...

    async def charge(self, tx: Transaction, soul_id: str, kind: UsageKind, usage: Usage) -> None:
        """Write down what model calls have cost."""
        ...


class Listeners(Protocol):
    def reaches(self, soul_id: str, user_id: str) -> int:
        """How many would hear what the soul says to this person."""
        ...

    def tell(self, soul_id: str, user_id: str, event: ListenerEvent, data: Json) -> int:
        """Send an event to everybody who listens to the soul for this person; returns how many do."""
        ...

    def session_changed(self, session: Session, reason: SessionChange, turn_id: str | None = None) -> None:
        """Tell all who take part in a conversation, and owners, that it is to be read anew."""
        ...

    def hears_emotion(self, soul_id: str) -> bool:
        """Whether anybody is to be told how the soul feels."""
        ...

    def emotion_changed(self, report: EmotionReport) -> None:
        """Tell everybody who listens to the soul how it feels now."""
        ...

    def hears_nodes(self, soul_id: str) -> bool:
        """Whether anybody is to be told which nodes run for the soul."""
        ...

    def tell_node(self, soul_id: str, user_id: str, data: Json, update: Callable[[], Json] | None = None) -> None:
        """Tell which node runs for this person, and owners also what it returned."""
        ...


class NoTelemetry:
    def emit(self, event: str, **fields: Any) -> None: ...

    def label(self, **labels: str) -> None: ...

    def labels(self) -> dict[str, str]:
        return {}

    def keep_private(self, *texts: str) -> None: ...


class NoBudget:
    def metering(self, soul_id: str, kind: UsageKind) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def background(self, soul_id: str, kind: UsageKind) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def charge(self, tx: Transaction, soul_id: str, kind: UsageKind, usage: Usage) -> None: ...


class NoListeners:
    def reaches(self, soul_id: str, user_id: str) -> int:
        return 0

    def tell(self, soul_id: str, user_id: str, event: ListenerEvent, data: Json) -> int:
        return 0

    def session_changed(self, session: Session, reason: SessionChange, turn_id: str | None = None) -> None: ...

    def hears_emotion(self, soul_id: str) -> bool:
        return False

    def emotion_changed(self, report: EmotionReport) -> None: ...

    def hears_nodes(self, soul_id: str) -> bool:
        return False

    def tell_node(self, soul_id: str, user_id: str, data: Json, update: Callable[[], Json] | None = None) -> None: ...


@dataclass(frozen=True, slots=True)
class Senses:
    emotions: EmotionRecogniser
    intents: IntentFilter
    surprise: SurpriseSense | None = None
    """None without the built-in encoder: then the model alone says what a turn has changed."""
    plans: PlanSense = field(default_factory=PlanSense)


@dataclass(frozen=True, slots=True)
class Memory:
    recall: Recall | None = None
    events: EventLibrary | None = None
    workspaces: Workspaces | None = None
    summaries: Summaries | None = None
    embedder: Embedder | None = None
    health: MemoryHealth = field(default_factory=MemoryHealth)


@dataclass(frozen=True, slots=True)
class Outlets:
    """The ways out: terminals over MQTT, open streams and sockets, and the workers of the outbox."""

    hub: Hub | None = None
    listeners: Listeners = field(default_factory=NoListeners)
    new_jobs: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a turn has left something to do."""


@dataclass(frozen=True, slots=True)
class Limits:
    turn_timeout_s: float = 300.0
    max_steps: int = 6
    max_events: int = 0


@dataclass(frozen=True, slots=True)
class Context:
    stores: Stores
    senses: Senses
    voice: Voice
    read_persona: Callable[[], PersonaConfig]
    """The settings of `persona.yaml` as they are now."""
    clock: Callable[[], float]
    timezone: tzinfo | None = None
    memory: Memory = field(default_factory=Memory)
    outlets: Outlets = field(default_factory=Outlets)
    telemetry: Telemetry = field(default_factory=NoTelemetry)
    budget: Budget = field(default_factory=NoBudget)
    locks: SessionLocks = field(default_factory=SessionLocks)
    limits: Limits = field(default_factory=Limits)
    rehearsing: bool = False
    """Nothing of the turn is to be counted: somebody only wants to see its prompt."""

    @property
    def carrier(self) -> Carrier:
        """How the state update travels; strict output can only be parsed from tags."""
        return "tags" if self.persona.strict_output else self.voice.habits.carrier

    def local_time(self, at: float | None = None) -> datetime:
        """A time, by default now, as the users' clocks show it."""
        return datetime.fromtimestamp(self.clock() if at is None else at, self.timezone)

    @property
    def persona(self) -> PersonaConfig:
        return self.read_persona()

    @property
    def constants(self) -> Constants:
        """The numbers of the dynamics."""
        return self.persona.dynamics
