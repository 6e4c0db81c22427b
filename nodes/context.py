"""The ports of a turn, built once where the program starts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.memory.events import EventLibrary
from soulgraph.memory.recall import Recall
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.telemetry import NoTelemetry, Telemetry
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.senses.ports import EmotionRecogniser
from soulgraph.soul.constants import Constants
from soulgraph.stores.locks import SessionLocks
from soulgraph.stores.records import UsageKind
from soulgraph.stores.stores import Stores
from soulgraph.stores.workspace import Workspaces
from soulgraph.terminals.hub import Hub
from soulgraph.voices.usage import Usage
from soulgraph.voices.voice import Voice

ObserveUsage = Callable[[str, UsageKind, Usage], None]


def _unobserved(soul_id: str, kind: UsageKind, usage: Usage) -> None:
    """For those who embed the turn and keep their own figures."""


@dataclass(frozen=True, slots=True)
class Context:
    stores: Stores
    emotions: EmotionRecogniser
    intents: IntentFilter
    voice: Voice
    persona: PersonaConfig
    clock: Callable[[], float]
    timezone: tzinfo | None = None
    recall: Recall | None = None
    events: EventLibrary | None = None
    workspaces: Workspaces | None = None
    telemetry: Telemetry = field(default_factory=NoTelemetry)
    hub: Hub | None = None
    listeners: Listeners = field(default_factory=Listeners)
    locks: SessionLocks = field(default_factory=SessionLocks)
    max_steps: int = 6
    max_events: int = 0
    daily_tokens: int = 0
    observe_usage: ObserveUsage = _unobserved

    def local_time(self, at: float | None = None) -> datetime:
        """A moment, by default this one, as the users' clocks show it."""
        return datetime.fromtimestamp(self.clock() if at is None else at, self.timezone)

    @property
    def constants(self) -> Constants:
        """The numbers of the dynamics."""
        return self.persona.dynamics
