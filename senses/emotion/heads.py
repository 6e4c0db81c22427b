"""The trained heads, which map the features of a text to label shares and to pleasure, arousal and dominance.

shares   a small network over [embedding, words], softmax over our labels
p, a, d  linear in RBF similarities to some four thousand sentences, words, label shares and word pieces
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from soulgraph.errors import ConfigurationError
from soulgraph.senses.arrays import EMBEDDING, Floats, restored
from soulgraph.senses.emotion.features import BUCKETS, LAYOUT, TextFeatures
from soulgraph.soul.emotions import EMOTIONS

FILE = "heads.npz"
# The embedding has length 1 in 512 dimensions: scaled up so that its components weigh like the words.
VECTOR_SCALE, WORD_SCALE = 16.0, 1.5
SIGNATURE = ",".join((*EMOTIONS, *LAYOUT, str(EMBEDDING), str(BUCKETS)))


@dataclass(frozen=True)
class Heads:
    """The arrays of the data file, under their names in it."""

    # shares
    inner: Floats
    inner_bias: Floats
    outer: Floats
    direct: Floats
    bias: Floats
    # p, a, d
    centre: Floats
    axes: Floats
    landmarks: Floats
    reach: Floats
    echo: Floats
    from_words: Floats
    from_shares: Floats
    from_pieces: Floats
    rarity: Floats
    level: Floats
    # confidence: slope and intercept on the log-odds of the winning share
    trust: Floats

    def shares(self, vector: Floats, words: Floats) -> Floats:
        """The probability of each label."""
        inputs = np.concatenate([vector * VECTOR_SCALE, words * WORD_SCALE])
        hidden = np.maximum(inputs @ self.inner + self.inner_bias, 0)
        logits = hidden @ self.outer + inputs @ self.direct + self.bias
        raised = np.exp(logits - logits.max())
        shares: Floats = raised / raised.sum()
        return shares

    def pad(self, vector: Floats, features: TextFeatures, shares: Floats) -> Floats:
        point: Floats = np.dot(vector - self.centre, self.axes)
        similarities = self._similarities(point)
        pad: Floats = (
            similarities @ self.echo + features.words @ self.from_words + shares @ self.from_shares + self.level
        )
        return pad + self._piece_pad(features.pieces)

    def confidence(self, share: float) -> float:
        """The probability that a label with this share is right, by Platt scaling."""
        share = min(max(share, 1e-6), 1 - 1e-6)
        slope, intercept = self.trust.tolist()
        return 1 / (1 + math.exp(-(slope * math.log(share / (1 - share)) + intercept)))

    def _similarities(self, point: Floats) -> Floats:
        """`rbf_kernel` of one point and all landmarks, with the landmarks' part calculated once."""
        similarities: Floats = np.exp(
            self._scaled_landmarks @ point - (self._landmark_norms + self.reach[0] * (point @ point))
        )
        return similarities

    @cached_property
    def _scaled_landmarks(self) -> Floats:
        scaled: Floats = 2 * self.reach[0] * self.landmarks
        return np.asfortranarray(scaled)  # in which BLAS reads two megabytes twice as fast

    @cached_property
    def _landmark_norms(self) -> Floats:
        norms: Floats = self.reach[0] * (self.landmarks**2).sum(1)
        return norms

    def _piece_pad(self, pieces: NDArray[np.int64]) -> Floats:
        rarity = self.rarity[pieces]
        length = math.sqrt(rarity @ rarity) or 1.0
        pad: Floats = (rarity @ self.from_pieces[pieces]) / np.float32(length)
        return pad


def rbf_kernel(points: Floats, landmarks: Floats, reach: float) -> Floats:
    """exp(-reach * squared distance) of every point to every landmark."""
    squares = (points**2).sum(1)[:, None] + (landmarks**2).sum(1)[None] - 2 * points @ landmarks.T
    kernel: Floats = np.exp(-reach * squares)
    return kernel


def heads_from(arrays: Mapping[str, NDArray[np.generic]]) -> Heads:
    """The heads of a data file in single precision; raises ConfigurationError for one made for other features."""
    signature = str(arrays["signature"]) if "signature" in arrays else ""
    names = [field.name for field in fields(Heads)]
    if signature != SIGNATURE or any(name not in arrays for name in names):
        raise ConfigurationError(FILE, "was trained for other features or labels; train it anew")
    return Heads(**{name: restored(name, arrays) for name in names})


@cache
def heads() -> Heads:
    with as_file(files(__package__) / FILE) as path, np.load(path) as arrays:
        return heads_from(arrays)
