"""What is worth recalling, and in which order: pure functions of what is known about each candidate.

`lexical` is the share of a question's weight that the candidate's words carry, `dense` how near it is in meaning; both
are absolute, so that a question about nothing known finds nothing. The rest only orders what is relevant.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

K1, B = 1.2, 0.5
USUAL_LENGTH = 20.0
"""Terms of a message as people write them. Not counted anew: what a term says in a text never changes then."""

HALF_LIFE_S = 30 * 86_400.0
ENOUGH = 8.0
FEW_TEXTS, MANY_TEXTS = 100, 1000


@dataclass(frozen=True, slots=True)
class Weights:
    lexical: float = 1.2
    dense: float = 1.0
    around: tuple[float, ...] = (0.5, 0.3, 0.3, 0.2)
    """How much the relevance of the message before it, after it, two before and two after it counts for a message."""
    by_user: float = 1.5
    """How much more a user's own words count than the answers to them."""
    recent: float = 0.1
    useful: float = 0.15
    floor: float = 0.15
    """Relevance below which nothing is recalled."""
    relative_floor: float = 0.25
    """Relevance below which nothing is recalled either, as a share of the best."""
    spark: float = 0.33
    """How near in meaning the best must be among many: a question that reaches nothing is about nothing known."""
    familiar: float = 0.2
    """How much of that it makes up for that the question's words were ever used."""
    familiar_alone: float = 0.16
    """The share of the question's words that must have been used where no meaning is known."""


EPISODES = Weights()
# Events are few and speak in general terms: much of anything sounds a little like them.
EVENTS = Weights(lexical=0.6, by_user=0, recent=0.04, useful=0.06, floor=0.35, spark=0.38)


def relevance(lexical: Floats, dense: Floats, weights: Weights) -> Floats:
    return weights.lexical * lexical + weights.dense * np.maximum(dense, 0)


def standing(relevant: Floats, by_user: Floats, age_s: Floats, weights: Weights) -> Floats:
    """Relevance first; then what people said themselves, and what is recent."""
    recent = np.exp2(-np.maximum(age_s, 0) / HALF_LIFE_S)
    return relevant * (1 + weights.by_user * by_user) + weights.recent * recent


def served(useful: Floats, weights: Weights) -> Floats:
    """What having proved useful so often adds to a standing: soon much, then ever less."""
    return weights.useful * useful / (useful + ENOUGH)


def is_relevant(nearest: float | None, familiar: float, texts: int, weights: Weights) -> bool:
    """Whether a question is about something known at all; there is no nearest where no text has a meaning yet.

    Among more texts something is always nearer, so more is asked of them; beyond MANY_TEXTS it stays at that.
    """
    demand = 1 + float(np.log(min(max(texts, 1), MANY_TEXTS) / MANY_TEXTS)) / 10
    if nearest is None:
        return familiar >= weights.familiar_alone * demand
    return nearest + weights.familiar * familiar >= weights.spark * demand


def top_k(values: Floats, most: int) -> NDArray[np.int64]:
    """The rows of the k greatest values above zero. Most values are small, and passed over before any is sorted."""
    rows = np.flatnonzero(values > values.max(initial=0) / 2)
    if len(rows) < most:
        rows = np.flatnonzero(values > 0)
    return rows[np.argpartition(values[rows], -most)[-most:]] if len(rows) > most else rows


def idf(holders: int, of: int) -> float:
    """How much it says that a text has a term which this many of so many texts have.

    A few texts do not tell which words are common: they are taken for a part of more.
    """
    return float(np.log1p((max(of, FEW_TEXTS) - holders + 0.5) / (holders + 0.5)))


def bm25_tf(frequency: Floats, length: Floats) -> Floats:
    """BM25: a term said twice says little more than once, and less in a long text."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / USUAL_LENGTH))
