"""The ports of a turn, built once where the program starts."""

from collections.abc import Callable
from dataclasses import dataclass

from soulgraph.senses.ports import EmotionRecogniser
from soulgraph.settings import PersonaConfig
from soulgraph.soul.constants import Constants
from soulgraph.stores.stores import Stores
from soulgraph.terminals.hub import Hub
from soulgraph.voices.voice import Voice


@dataclass(frozen=True, slots=True)
class Context:
    stores: Stores
    emotions: EmotionRecogniser
    voice: Voice
    persona: PersonaConfig
    clock: Callable[[], float]
    hub: Hub | None = None
    max_steps: int = 6

    @property
    def constants(self) -> Constants:
        """The numbers of the dynamics."""
        return self.persona.dynamics
