"""Classifies utterances by the examples of a catalog, with kernel ridge regression.

The kernel is the cosine of the embeddings, cubed so that only close texts count, plus a small share of common
character n-grams, which tell apart texts of nearly the same meaning. It is solved once per catalog; a score is then two
small matrix products. 1 is an example itself, 0 is like none; `calibration.py` measures which is as likely as not.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.intents.calibration import bar_between
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.shape import refuses, shape_of
from soulgraph.senses.ports import Vectors
from soulgraph.senses.text import normalise

SPELLING_SHARE = 0.15
RIDGE = 0.1
GRAM_SIZES = range(2, 6)
MAX_CANDIDATES = 5

Scores = NDArray[np.float32]
Background = tuple[Sequence[str], Vectors]
"""Texts and their embeddings."""


class Example(NamedTuple):
    intent: Intent
    text: str
    refuses: bool


class Likeness(NamedTuple):
    """The confidence that an intent is meant, and its closest example."""

    confidence: float
    example: Example

    @property
    def intent(self) -> Intent:
        return self.example.intent


def examples_of(catalog: Sequence[Intent]) -> list[Example]:
    """The examples of a catalog; the names of intents that have some are examples too."""
    return [
        Example(intent, text, refuses(shape_of([text])))
        for intent in catalog
        if intent.match.examples
        for text in [*intent.match.examples, intent.name.replace("_", " ")]
    ]


class Examples:
    def __init__(self, examples: Sequence[Example], vectors: Vectors, background: Background) -> None:
        """`examples` are grouped by intent, `vectors` are their embeddings; `background` are texts that mean none."""
        self._examples = list(examples)
        self._vectors = vectors
        self._spelling = Spelling([example.text for example in examples])
        number = {intent_id: i for i, intent_id in enumerate(dict.fromkeys(example.intent.id for example in examples))}
        self._owner = np.array([number[example.intent.id] for example in examples])
        starts = [int(start) for start in np.searchsorted(self._owner, range(len(number) + 1))]
        self._slices = [slice(*pair) for pair in pairwise(starts)]
        self._votes, self._spelled_votes, own = self._solve()
        self._even_score = bar_between(self._scores(*background).max(axis=1), own)

    def _solve(self) -> tuple[Scores, Scores, Scores]:
        """The weights of every example and of every n-gram for every intent.

        Also the score that the own intent of every example would give it without it, as far as it is its best one.
        """
        spelled = np.stack([self._spelling.dense(example.text) for example in self._examples])
        semantic = _similarity(self._vectors @ self._vectors.T)
        kernel = (1 - SPELLING_SHARE) * semantic + SPELLING_SHARE * spelled @ spelled.T
        targets = np.eye(len(self._slices), dtype=np.float32)[self._owner]
        inverse = np.linalg.inv(kernel + RIDGE * np.eye(len(kernel), dtype=np.float32))
        votes = inverse @ targets
        without = targets - votes / np.diag(inverse)[:, None]
        own = without[np.arange(len(without)), self._owner]
        right = own == without.max(axis=1)
        weights = _float32((1 - SPELLING_SHARE) * votes), _float32(SPELLING_SHARE * spelled.T @ votes)
        return *weights, own[right] if right.any() else own

    def likeliest(self, texts: Sequence[str], vectors: Vectors) -> list[list[Likeness]]:
        """For each text the intents with a positive score, the likeliest first."""
        closeness = vectors @ self._vectors.T
        return [self._ranked(*each) for each in zip(self._scores(texts, vectors), closeness, strict=True)]

    def _scores(self, texts: Sequence[str], vectors: Vectors) -> Scores:
        spelled = np.array([self._spelling_scores(text) for text in texts])
        scores: Scores = _similarity(vectors @ self._vectors.T) @ self._votes + spelled
        return scores

    def _spelling_scores(self, text: str) -> Scores:
        pieces, weights = self._spelling.pieces(text)
        return weights @ self._spelled_votes[pieces]

    def _ranked(self, scores: Scores, closeness: Scores) -> list[Likeness]:
        ranked = [i for i in np.argsort(-scores)[:MAX_CANDIDATES].tolist() if scores[i] > 0]
        return [Likeness(self._confidence(float(scores[i])), self._closest(i, closeness)) for i in ranked]

    def _confidence(self, score: float) -> float:
        return min(1.0, score / (score + self._even_score))

    def _closest(self, intent: int, closeness: Scores) -> Example:
        own = self._slices[intent]
        return self._examples[own.start + int(closeness[own].argmax())]


class Spelling:
    """Texts as TF-IDF vectors of character n-grams."""

    def __init__(self, texts: Sequence[str]) -> None:
        seen = Counter(gram for text in texts for gram in set(grams_of(text)))
        self._gram_index = {gram: i for i, gram in enumerate(seen)}
        self._idf = np.log((1 + len(texts)) / (1 + np.array(list(seen.values())))).astype(np.float32)
        self._unseen_weight = float(np.log(1 + len(texts))) / 2

    def pieces(self, text: str) -> tuple[list[int], Scores]:
        """The known n-grams of a text and their weights; unknown n-grams make the vector shorter than 1."""
        grams = set(grams_of(text))
        known = [self._gram_index[gram] for gram in self._gram_index.keys() & grams]
        weights = self._idf[known]
        length = np.sqrt(weights @ weights + (len(grams) - len(known)) * self._unseen_weight**2)
        return known, weights / length if length else weights

    def dense(self, text: str) -> Scores:
        known, weights = self.pieces(text)
        vector = np.zeros(len(self._gram_index), dtype=np.float32)
        vector[known] = weights
        return vector


def grams_of(text: str) -> list[str]:
    spelled = f" {' '.join(normalise(text).lower().split())} "
    return [spelled[i : i + size] for size in GRAM_SIZES for i in range(len(spelled) - size + 1)]


def _float32(values: NDArray[np.floating]) -> Scores:
    return values.astype(np.float32)


def _similarity(cosines: Scores) -> Scores:
    positive: Scores = np.clip(cosines, 0, 1)
    return positive * positive * positive
