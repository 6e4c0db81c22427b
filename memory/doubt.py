"""Whether what was found answers at all, for a question that names one of the two who talk.

"What did Calvin buy?" may find what Dave bought: the same words in the mouth of the other. Learnt by
`scripts/training/doubt.py` from questions with and without an answer, at a point where 2 % of those with one are
doubted. Questions that name neither are not doubted: there it would lose more than it spares.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from soulgraph.memory.features import Features
from soulgraph.memory.ranking import Floats


@dataclass(frozen=True, slots=True)
class Doubt:
    """The weights of the best values among what the one who is asked about has said, and among the other's words."""

    constant: float = 0.32
    words_beside: float = -3.57
    words_beside_other: float = 2.62
    words: float = 4.41
    words_other: float = -1.79
    meaning: float = -5.05
    meaning_other: float = 4.87
    threshold: float = -0.09

    def doubts(self, features: Features) -> bool:
        return self.certainty_of(signals(features)) < self.threshold

    def certainty_of(self, signals: Sequence[float]) -> float:
        weights = [getattr(self, field.name) for field in fields(self)[1:-1]]
        return self.constant + float(np.dot(weights, signals))


DOUBT = Doubt()


def signals(features: Features) -> list[float]:
    """In the order of the weights."""
    own = features.speaker > 0
    found = []
    for values in (features.words_beside, features.words, features.meaning):
        found += [_best(values[own]), _best(values[~own])]
    return found


def _best(values: Floats) -> float:
    return float(values.max(initial=0))
