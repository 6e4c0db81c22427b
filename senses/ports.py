"""The protocols of the senses: embedder, emotion recogniser and intent arbiter."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.intents.catalog import Intent
from soulgraph.soul.emotions import UserEmotion

Vectors = NDArray[np.float32]
"""One row per text, each of length 1."""


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """The name of the model; vectors of different models cannot be compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector per text; raises SenseUnavailable when the model cannot be reached."""
        ...

    def expect(self, texts: Sequence[str]) -> None:
        """Announces texts that will be embedded soon, so that they can go into the same batch."""
        ...


class EmotionRecogniser(Protocol):
    async def recognise(self, text: str) -> UserEmotion:
        """The emotion of a text; p, a and d are on the scale of the label prototypes."""
        ...


class IntentArbiter(Protocol):
    async def decide(self, text: str, candidates: Sequence[Intent]) -> set[str]:
        """The ids of the candidates that the user really asks for; possibly empty."""
        ...
