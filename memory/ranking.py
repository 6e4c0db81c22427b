"""The ranking formulas: pure functions of what is known about each candidate.

`lexical` is the normalised BM25 score of a candidate for the query, `dense` its cosine with the query's vector. Both
are absolute, so that a query about nothing known finds nothing. Everything else only orders what is relevant.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.tokenizer import terms_of

Floats = NDArray[np.floating[Any]]

K1, B = 1.2, 0.5  # BM25's saturation and length normalisation
USUAL_LENGTH = 20.0
"""Terms in a typical message, in place of BM25's average length: a constant, so stored weights stay valid."""

HALF_LIFE_S = 30 * 86_400.0
HALF_BONUS_AT = 8.0
"""Uses after which a memory has half of the greatest usefulness bonus."""
FEW_TEXTS, MANY_TEXTS = 100, 1000


@dataclass(frozen=True, slots=True)
class Weights:
    """How events and summaries are ranked, and what is about nothing known at all."""

    lexical: float = 1.2
    dense: float = 1.0
    recent: float = 0.1
    useful: float = 0.15
    floor: float = 0.15
    """The least relevance that is recalled."""
    min_similarity: float = 0.33
    """The cosine that the nearest of many texts must reach: below it the query is about nothing known."""
    known_terms: float = 0.2
    """How much the share of known terms adds to that cosine."""
    min_known_terms: float = 0.16
    """The share of known terms that a query needs where there are no vectors to compare."""


EPISODES = Weights()
# Events are few and worded in general terms: almost any text is somewhat similar to one of them.
EVENTS = Weights(lexical=0.6, recent=0.04, useful=0.06, floor=0.35, min_similarity=0.38)


def relevance(lexical: Floats, dense: Floats, weights: Weights) -> Floats:
    return weights.lexical * lexical + weights.dense * np.maximum(dense, 0)


def score(relevant: Floats, age_s: Floats, weights: Weights) -> Floats:
    """Relevance plus a recency bonus that halves every HALF_LIFE_S."""
    return relevant + weights.recent * np.exp2(-np.maximum(age_s, 0) / HALF_LIFE_S)


def usefulness_bonus(useful: Floats, weights: Weights) -> Floats:
    """What is added to the score of a memory that replies drew on this many times; it approaches `weights.useful`."""
    return weights.useful * useful / (useful + HALF_BONUS_AT)


def is_relevant(similarity: float | None, known_terms: float, texts: int, weights: Weights) -> bool:
    """Whether a query is about anything in the index at all.

    `similarity` is the cosine of the nearest text, None where no text has a vector yet; `known_terms` the share of the
    query's terms that occur. The thresholds rise with the number of texts up to MANY_TEXTS, because among more texts
    some are similar by chance.
    """
    strictness = 1 + math.log(min(max(texts, 1), MANY_TEXTS) / MANY_TEXTS) / 10
    if similarity is None:
        return known_terms >= weights.min_known_terms * strictness
    return similarity + weights.known_terms * known_terms >= weights.min_similarity * strictness


def top_k(values: Floats, k: int) -> NDArray[np.int64]:
    """The rows of the k greatest values above zero, in no particular order."""
    # Most values are small: dropping those below half of the maximum first saves most of the partitioning.
    rows = np.flatnonzero(values > values.max(initial=0) / 2)
    if len(rows) < k:
        rows = np.flatnonzero(values > 0)
    return rows[np.argpartition(values[rows], -k)[-k:]] if len(rows) > k else rows


def idf(document_frequency: int, texts: int) -> float:
    """The inverse document frequency of a term that occurs in this many of the texts.

    Fewer than FEW_TEXTS are counted as that many: a handful of texts does not show which terms are common.
    """
    return math.log1p((max(texts, FEW_TEXTS) - document_frequency + 0.5) / (document_frequency + 0.5))


def bm25_tf(frequency: Floats, length: Floats) -> Floats:
    """BM25's term frequency: it saturates with repetition and is smaller in a longer text."""
    return frequency * (K1 + 1) / (frequency + K1 * (1 - B + B * length / USUAL_LENGTH))


def rank_texts(
    query: str, texts: Sequence[str], cosines: Floats, age_s: Floats, useful: Floats, weights: Weights
) -> list[tuple[int, float]]:
    """The rows of the relevant texts with their scores, the best first; empty if none is similar enough."""
    terms = set(terms_of(query))
    shared = [len(terms & set(terms_of(text))) for text in texts]
    relevant = relevance(np.array(shared, np.float32) / max(len(terms), 1), cosines, weights)
    if relevant.max(initial=0) < weights.min_similarity:
        return []
    scores = score(relevant, age_s, weights) + usefulness_bonus(useful, weights)
    order = [int(n) for n in np.argsort(-scores, kind="stable") if relevant[n] >= weights.floor]
    return [(n, round(float(scores[n]), 4)) for n in order]
