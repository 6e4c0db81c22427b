"""Classifies utterances by the examples of a catalog, with kernel ridge regression.

The kernel is the cosine of the embeddings, cubed so that only close texts count, plus a small share of common
character n-grams, which tell apart texts of nearly the same meaning. It is solved once per catalog; a score is then two
small matrix products. 1 is an example itself, 0 is like none; `calibration.py` measures which is as likely as not.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.intents.calibration import bar_between
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.kernel_ridge import BLOCK, Solution, solve
from soulgraph.senses.intents.pieces import Pieces
from soulgraph.senses.intents.shape import refuses, shape_of
from soulgraph.senses.intents.spelling import Scores, Spelling, gram_set
from soulgraph.senses.ports import Vectors

SPELLING_SHARE = 0.15
RIDGE = 0.1
MAX_CANDIDATES = 5

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
    """The examples of a catalog, learned. A score is a few small matrix products."""

    def __init__(
        self,
        examples: Sequence[Example],
        vectors: Vectors,
        spelling: Spelling,
        solution: Solution,
        background: Background,
    ) -> None:
        """`examples` are grouped by intent, `vectors` are their embeddings; `background` are texts that mean none."""
        self._examples = list(examples)
        self._vectors = vectors
        self._spelling = spelling
        self._votes = solution.weights
        self._common_votes = spelling.common(spelling.own).T @ self._votes
        self._slices = _slices(examples)
        own = _own_scores(solution.left_out, _owners(examples))
        self._even_score = bar_between(self._best_scores(*background), own)

    @property
    def nbytes(self) -> int:
        return self._vectors.nbytes + self._votes.nbytes + self._common_votes.nbytes + self._spelling.nbytes

    def likeliest(self, texts: Sequence[str], vectors: Vectors) -> list[list[Likeness]]:
        """For each text the intents with a positive score, the likeliest first."""
        cosines = vectors @ self._vectors.T
        return [self._ranked(*each) for each in zip(self._scores(texts, cosines), cosines, strict=True)]

    def _best_scores(self, texts: Sequence[str], vectors: Vectors) -> Scores:
        best: Scores = self._scores(texts, vectors @ self._vectors.T).max(axis=1)
        return best

    def _scores(self, texts: Sequence[str], cosines: Scores) -> Scores:
        spelled = self._spelling.spell(map(gram_set, texts))
        kernel = _kernel(cosines, self._spelling.rare(spelled))
        common = SPELLING_SHARE * self._spelling.common(spelled)
        scores: Scores = kernel @ self._votes + common @ self._common_votes
        return scores

    def _ranked(self, scores: Scores, closeness: Scores) -> list[Likeness]:
        ranked = [i for i in np.argsort(-scores)[:MAX_CANDIDATES].tolist() if scores[i] > 0]
        return [Likeness(self._confidence(float(scores[i])), self._closest(i, closeness)) for i in ranked]

    def _confidence(self, score: float) -> float:
        return min(1.0, score / (score + self._even_score))

    def _closest(self, intent: int, closeness: Scores) -> Example:
        own = self._slices[intent]
        closest: Example = self._examples[own.start + int(closeness[own].argmax())]
        return closest


def learn(examples: Sequence[Example], vectors: Vectors, background: Background) -> Pieces[Examples]:
    """The parameters are those of `Examples`."""
    gram_sets: list[set[str]] = []
    for start in range(0, len(examples), BLOCK):
        gram_sets += [gram_set(example.text) for example in examples[start : start + BLOCK]]
        yield
    spelling = Spelling(gram_sets)
    yield
    solution = yield from solve(_kernel_rows(vectors, spelling), _owners(examples), RIDGE)
    return Examples(examples, vectors, spelling, solution, background)


def _kernel_rows(vectors: Vectors, spelling: Spelling) -> Callable[[int, int], Scores]:
    """The kernel of the examples with each other, by rows up to the diagonal."""
    common = spelling.common(spelling.own)

    def rows(start: int, end: int) -> Scores:
        spelled = spelling.rare(spelling.own.part(start, end))[:, :end] + common[start:end] @ common[:end].T
        return _kernel(vectors[start:end] @ vectors[:end].T, spelled)

    return rows


def _kernel(cosines: Scores, spelled: Scores) -> Scores:
    positive = np.clip(cosines, 0, 1)
    return (1 - SPELLING_SHARE) * (positive * positive * positive) + SPELLING_SHARE * spelled


def _owners(examples: Sequence[Example]) -> NDArray[np.int64]:
    """For each example the number of its intent."""
    number = {intent_id: i for i, intent_id in enumerate(dict.fromkeys(example.intent.id for example in examples))}
    return np.array([number[example.intent.id] for example in examples])


def _slices(examples: Sequence[Example]) -> list[slice]:
    """For each intent where its examples are."""
    owners = _owners(examples)
    edges = np.searchsorted(owners, range(owners[-1] + 2)).tolist()
    return [slice(*pair) for pair in pairwise(edges)]


def _own_scores(left_out: Scores, owners: NDArray[np.int64]) -> Scores:
    """The score that the own intent of every example gives it without it, as far as it is its best one."""
    own = left_out[np.arange(len(owners)), owners]
    right = own == left_out.max(axis=1)
    return own[right] if right.any() else own
