"""What the turn needs from its senses."""

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
        """Which model it is: vectors of different names do not compare."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises SenseUnavailable when the model cannot be reached."""
        ...

    def expect(self, texts: Sequence[str]) -> None:
        """These will be asked for soon: they may be made together with what is asked for now."""
        ...


class EmotionRecogniser(Protocol):
    async def recognise(self, text: str) -> UserEmotion:
        """The feeling the text carries; p, a and d are on the scale of the label prototypes."""
        ...


class IntentArbiter(Protocol):
    async def decide(self, text: str, candidates: Sequence[Intent]) -> set[str]:
        """The ids of those candidates that the user really asks for; possibly none."""
        ...
