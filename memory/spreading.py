"""Which of the candidates are shown: each with two lines from around it, so that together they tell the most.

Two lines that answer a question often stand near each other. A candidate is worth what it says itself and what the
lines that come with it add to those shown already.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.features import Features, Lines
from soulgraph.memory.ranking import Floats

_LINES = 2  # shown with each candidate
_WITHIN = 2  # messages before and after, from which they are taken
_SHORT = 40  # letters; a shorter answer says nothing without its question
_LEAST = 0.006  # of the best candidate's probability


@dataclass(frozen=True, slots=True)
class Ranking:
    """Learnt by `scripts/training/recall.py`."""

    weights: Mapping[str, float]
    """One for each of the features; those that are not named count nothing."""
    sharpness: float = 0.6
    """How much more probable a candidate becomes with its score."""
    own: float = 6.0
    """How much a candidate itself counts against a line that is shown with it."""

    def scores(self, features: Features) -> Floats:
        total = np.zeros(len(features.words), np.float32)
        for name, weight in self.weights.items():
            total += np.float32(weight) * getattr(features, name)
        return total


class Choice(NamedTuple):
    """A row, the rows of the lines that are shown with it, and how much both add, 1 at most."""

    row: int
    around: list[int]
    score: float


RANKING = Ranking(
    {
        "words_beside": 0.000,
        "words_near": 2.359,
        "words_fading": 1.000,
        "topic": 1.756,
        "concepts": 1.553,
        "meaning": 1.513,
        "meaning_before": 0.926,
        "wordless_meaning": 10.285,
        "wordless_meaning_near": 10.433,
        "speaker": 1.401,
        "size": 4.939,
        "asks": -1.525,
        "dated": 2.751,
        "day": 4.535,
        "recent": 0.100,
    }
)


def spread(scores: Floats, speaks: NDArray[np.bool_], lines: Lines, limit: int, ranking: Ranking) -> list[Choice]:
    """Up to `limit` rows, the best first.

    `scores` are by row and one more for no row; -inf is no candidate. `speaks` says, by row, whether a message itself
    has to do with the question: one that has not, and comes along with another, is not chosen for its own sake.
    """
    rows = np.flatnonzero(np.isfinite(scores))
    if not len(rows):
        return []
    worth = np.exp((scores - scores[rows].max()) * ranking.sharpness)
    rows = rows[worth[rows] >= _LEAST]
    left = worth.copy()
    around = np.stack(lines.around(rows, _WITHIN))
    own = ranking.own * worth[rows]
    place_of = {row: n for n, row in enumerate(rows.tolist())}
    chosen: list[Choice] = []
    for _ in range(min(limit, len(rows))):
        added = np.sort(left[around], axis=0)[-_LINES:].sum(axis=0)
        value = own + added
        n = int(value.argmax())
        if value[n] < 0:
            break
        row = int(rows[n])
        shown = _shown_with(row, around[:, n].tolist(), left, lines)
        own[n] = -np.inf
        own[[place_of[one] for one in shown if one in place_of and not speaks[one]]] = -np.inf
        left[[row, *shown]] = 0
        chosen.append(Choice(row, shown, float(value[n]) / (ranking.own + _LINES)))
    return chosen


def _shown_with(row: int, around: list[int], left: Floats, lines: Lines) -> list[int]:
    """The best lines from around a row; a short answer always has the line before it."""
    best = sorted(around, key=lambda one: -left[one])
    before = int(lines.before[row])
    if before >= 0 and lines.size[row] < _SHORT:
        best = [before, *(one for one in best if one != before)]
    return sorted(one for one in best[:_LINES] if one >= 0)
