"""How likely it is that words overturn what the soul expected: the engine's own sense of a surprise.

Only a surprise changes a soul for good. Small models cannot judge that; a linear head on the embedding of the words
does better. It also reads whether the feeling in the words contradicts the feeling in one of the expectations, or
agrees with one.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files

import numpy as np

from soulgraph.senses.arrays import EMBEDDING, Floats
from soulgraph.senses.ports import Embedder, EmotionRecogniser
from soulgraph.soul.emotions import UserEmotion

FILE = "head.npz"
FEELINGS = 7
VECTOR_SCALE = 16.0
"""So that the embedding, of length 1 in 512 dimensions, does not drown in the feelings."""
_APPRAISAL_WEIGHT = 0.8


class SurpriseSense:
    """Needs the built-in encoder and recogniser: its head was trained on what they say."""

    def __init__(self, embedder: Embedder, recogniser: EmotionRecogniser) -> None:
        self._embedder = embedder
        self._recogniser = recogniser

    async def probability(self, text: str, expectations: Sequence[str]) -> float:
        inputs = await self.inputs(text, expectations)
        weights = _head()
        return float(1 / (1 + np.exp(-(inputs @ weights[:-1] + weights[-1]))))

    async def nearest(self, text: str, expectations: Sequence[str]) -> list[int]:
        """The places of the expectations, the one that the words have most to do with first."""
        vector, *others = await self._embedder.embed([text, *expectations])
        likeness = [float(vector @ other / np.linalg.norm(other)) for other in others]
        return sorted(range(len(likeness)), key=lambda at: -likeness[at])

    async def inputs(self, text: str, expectations: Sequence[str]) -> Floats:
        """What the head sees of a text next to what was expected."""
        vector = (await self._embedder.embed([text]))[0]
        felt = await self._recogniser.recognise(text)
        expected = [(await self._recogniser.recognise(one)).p for one in expectations]
        unit = vector / max(float(np.linalg.norm(vector)), 1e-9)
        return np.concatenate([_feelings(felt, expected), VECTOR_SCALE * unit], dtype=np.float32)


def _feelings(felt: UserEmotion, expected: Sequence[float]) -> Floats:
    """How much the feeling contradicts and agrees with what was expected, and the feeling itself."""
    appraisal = felt.appraisal
    hostility, repair, toward = (appraisal.hostility, appraisal.repair, appraisal.toward) if appraisal else (0, 0, 0)
    pleasure = min(1.0, max(-1.0, felt.p + _APPRAISAL_WEIGHT * (repair - hostility)))
    products = [pleasure * one for one in expected] or [0.0]
    against, along = max(0.0, -min(products)), max(0.0, max(products))
    return np.array([against, along, felt.p, felt.intensity, hostility, repair, toward], np.float32)


@cache
def _head() -> Floats:
    """The weights of the inputs, and last the bias."""
    with as_file(files(__package__) / FILE) as path, np.load(path) as arrays:
        weights: Floats = arrays["weights"].astype(np.float32)
    assert weights.shape == (FEELINGS + EMBEDDING + 1,), f"{FILE} was trained for other features: train it anew"
    return weights
