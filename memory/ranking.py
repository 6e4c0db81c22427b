"""What is worth recalling, and in which order: pure functions of what is known about each candidate.

`lexical` is the share of a question's weight that the candidate's words carry, `dense` how near it is in meaning; both
are absolute, so that a question about nothing known finds nothing. The rest only orders what is relevant.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

K1, B = 1.2, 0.75
HALF_LIFE_S = 30 * 86_400.0
ENOUGH = 8.0
FEW_TEXTS = 100


@dataclass(frozen=True, slots=True)
class Weights:
    lexical: float = 0.8
    dense: float = 1.0
    by_user: float = 1.0
    """How much more a user's own words count than the answers to them, which bring them along as their context."""
    recent: float = 0.04
    useful: float = 0.06
    context: float = 0.6
    """How much the words of the message before it count for a message."""
    floor: float = 0.08
    """Relevance below which nothing is recalled."""
    spark: float = 0.2
    """Relevance that the best must have: a question that reaches nothing so near is about nothing known."""


EPISODES = Weights()
# Events are few and speak in general terms: much of anything sounds a little like them.
EVENTS = Weights(lexical=0.6, floor=0.35, spark=0.38)


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of the candidates, one entry each."""

    lexical: Floats
    dense: Floats
    by_user: Floats
    age_s: Floats
    useful: Floats

    def at(self, places: NDArray[np.int64]) -> "Signals":
        """Those of the candidates at these places, in this order."""
        return Signals(*(getattr(self, name)[places] for name in self.__slots__))


def relevance(lexical: Floats, dense: Floats, weights: Weights) -> Floats:
    return weights.lexical * lexical + weights.dense * np.maximum(dense, 0)


def standing(signals: Signals, weights: Weights) -> Floats:
    """Relevance first; then what people said themselves, what is recent, and what has proved useful."""
    recent = np.exp2(-np.maximum(signals.age_s, 0) / HALF_LIFE_S)
    useful = signals.useful / (signals.useful + ENOUGH)
    own = 1 + weights.by_user * signals.by_user
    return relevance(signals.lexical, signals.dense, weights) * own + weights.recent * recent + weights.useful * useful


def best(signals: Signals, k: int, weights: Weights) -> list[int]:
    """The places of the k best that are relevant, the best first; none if not one of them is near enough."""
    near = relevance(signals.lexical, signals.dense, weights)
    if near.max(initial=0) < weights.spark:
        return []
    relevant = np.flatnonzero(near >= weights.floor)
    order = np.argsort(-standing(signals, weights)[relevant], kind="stable")
    return [int(place) for place in relevant[order][:k]]


def rarity(holders: int, of: int) -> float:
    """How much it says that a text has a term which this many of so many texts have.

    A few texts do not tell which words are common: they are taken for a part of more.
    """
    return float(np.log1p((max(of, FEW_TEXTS) - holders + 0.5) / (holders + 0.5)))


def saturated(frequency: Floats, length: Floats, usual_length: float) -> Floats:
    """BM25: a term said twice says little more than once, and less in a long text."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / max(usual_length, 1)))
