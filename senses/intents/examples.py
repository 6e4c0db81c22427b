"""Which intent an utterance resembles, learned from the examples of a catalog.

Kernel ridge regression: two texts are alike as far as their vectors point the same way (cubed, so that only
what is close counts), and a little as far as they share pieces of spelling, which tell apart what means nearly
the same. Solved once per catalog; a score is then two small products. 1 is an example itself, 0 resembles none.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.shape import refuses, shape_of
from soulgraph.senses.ports import Vectors
from soulgraph.senses.text import normalise

SPELLING_SHARE = 0.15
RIDGE = 0.1
EVEN_SCORE = 0.125  # as likely meant as not, measured on queries in and out of scope
GRAM_SIZES = range(2, 6)
CONSIDERED = 5

Scores = NDArray[np.float32]


class Example(NamedTuple):
    intent: Intent
    text: str
    refuses: bool


class Likeness(NamedTuple):
    """How sure it is that an intent is meant, and the example that says so."""

    confidence: float
    example: Example

    @property
    def intent(self) -> Intent:
        return self.example.intent


def examples_of(catalog: Sequence[Intent]) -> list[Example]:
    """What the catalog gives, and the names of the intents that it gives examples of."""
    return [
        Example(intent, text, refuses(shape_of([text])))
        for intent in catalog
        if intent.match.examples
        for text in [*intent.match.examples, intent.name.replace("_", " ")]
    ]


class Examples:
    def __init__(self, examples: Sequence[Example], vectors: Vectors) -> None:
        """The examples of an intent follow one another."""
        self._examples = list(examples)
        self._vectors = vectors
        self._spelling = Spelling([example.text for example in examples])
        at = {intent_id: i for i, intent_id in enumerate(dict.fromkeys(example.intent.id for example in examples))}
        self._owner = np.array([at[example.intent.id] for example in examples])
        starts = [int(start) for start in np.searchsorted(self._owner, range(len(at) + 1))]
        self._own = [slice(*pair) for pair in pairwise(starts)]
        self._votes, self._spelled_votes = self._learned()

    def _learned(self) -> tuple[Scores, Scores]:
        """The weight of every example's, and of every piece of spelling's, vote for every intent."""
        spelled = np.stack([self._spelling.dense(example.text) for example in self._examples])
        alike = (1 - SPELLING_SHARE) * _alike(self._vectors @ self._vectors.T) + SPELLING_SHARE * spelled @ spelled.T
        targets = np.eye(len(self._own), dtype=np.float32)[self._owner]
        votes = np.linalg.solve(alike + RIDGE * np.eye(len(alike), dtype=np.float32), targets)
        return _single((1 - SPELLING_SHARE) * votes), _single(SPELLING_SHARE * spelled.T @ votes)

    def likeliest(self, texts: Sequence[str], vectors: Vectors) -> list[list[Likeness]]:
        """The intents that each text may mean, the likeliest first."""
        closeness = vectors @ self._vectors.T
        scores = _alike(closeness) @ self._votes + np.array([self._spelled(text) for text in texts])
        return [self._ranked(*each) for each in zip(scores, closeness, strict=True)]

    def _spelled(self, text: str) -> Scores:
        pieces, weights = self._spelling.pieces(text)
        return weights @ self._spelled_votes[pieces]

    def _ranked(self, scores: Scores, closeness: Scores) -> list[Likeness]:
        ranked = [i for i in np.argsort(-scores)[:CONSIDERED].tolist() if scores[i] > 0]
        return [Likeness(_confidence(float(scores[i])), self._closest(i, closeness)) for i in ranked]

    def _closest(self, intent: int, closeness: Scores) -> Example:
        own = self._own[intent]
        return self._examples[own.start + int(closeness[own].argmax())]


class Spelling:
    """Texts by the pieces they are spelled with; what many texts share says little."""

    def __init__(self, texts: Sequence[str]) -> None:
        seen = Counter(gram for text in texts for gram in set(grams_of(text)))
        self._at = {gram: i for i, gram in enumerate(seen)}
        self._rarity = np.log((1 + len(texts)) / (1 + np.array(list(seen.values())))).astype(np.float32)
        self._unseen = float(np.log(1 + len(texts))) / 2

    def pieces(self, text: str) -> tuple[list[int], Scores]:
        """The known pieces and their weights, of length 1 or less: pieces that are new make it shorter."""
        grams = set(grams_of(text))
        known = [self._at[gram] for gram in self._at.keys() & grams]
        weights = self._rarity[known]
        length = np.sqrt(weights @ weights + (len(grams) - len(known)) * self._unseen**2)
        return known, weights / length if length else weights

    def dense(self, text: str) -> Scores:
        known, weights = self.pieces(text)
        vector = np.zeros(len(self._at), dtype=np.float32)
        vector[known] = weights
        return vector


def grams_of(text: str) -> list[str]:
    spelled = f" {' '.join(normalise(text).lower().split())} "
    return [spelled[i : i + size] for size in GRAM_SIZES for i in range(len(spelled) - size + 1)]


def _single(values: NDArray[np.floating]) -> Scores:
    return values.astype(np.float32)


def _alike(cosines: Scores) -> Scores:
    near: Scores = np.clip(cosines, 0, 1)
    return near * near * near


def _confidence(score: float) -> float:
    return min(1.0, score / (score + EVEN_SCORE))
