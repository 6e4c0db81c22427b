"""Finds plans in what is said: rules propose, and a head that was trained on many people's sentences decides.

Rules see words; whether "the match on Friday" is the speaker's own, a neighbour's or one on television is in how the
whole sentence is meant. The head reads both, and the embedding of the sentence and of the clause.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib.resources import as_file, files
from typing import NamedTuple

import numpy as np

from soulgraph.errors import ConfigurationError, SenseUnavailable
from soulgraph.senses.arrays import EMBEDDING, Floats, restored
from soulgraph.senses.plans.clauses import Clause
from soulgraph.senses.plans.features import BUCKETS, Sparse, features_of
from soulgraph.senses.plans.finding import FoundPlan, Heard, plans_in
from soulgraph.senses.plans.grammar import Speaker
from soulgraph.senses.ports import Embedder
from soulgraph.soul.plan_times import PlanKind

FILE = "head.npz"
INPUTS = BUCKETS + 2 * EMBEDDING
VECTOR_SCALE = 1.5
"""Of the two embeddings, each of length 1, against the words: more of them made it worse."""
KINDS: dict[Speaker, tuple[PlanKind | None, ...]] = {"user": (None, "reminder", "plan"), "soul": (None, "promise")}


class PlanSense:
    """Needs the built-in encoder, on whose vectors its head was trained; without one that answers the rules decide."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    async def find(
        self, text: str, now: datetime, speaker: Speaker = "user", before: Sequence[str] = ()
    ) -> list[FoundPlan]:
        """What is to be kept of a text; `before` are the lines before it, the last one last."""
        heard = Heard.of(text, now, speaker)
        clauses = heard.candidates
        if self._embedder is None or not clauses:
            return plans_in(heard, before)
        try:
            vectors = await self._embedder.embed([heard.text, *(clause.text for clause in clauses)])
        except SenseUnavailable:  # no turn is lost for that
            return plans_in(heard, before)
        beside = dict(zip((clause.start for clause in clauses), vectors[1:], strict=True))

        def judge(heard: Heard, clause: Clause, ruled: FoundPlan | None) -> PlanKind | None:
            return decide(features_of(heard, clause, ruled), vectors[0], beside[clause.start], speaker)

        return plans_in(heard, before, judge)


class Head(NamedTuple):
    """A linear layer: one row for each input, one column for each kind."""

    weights: Floats
    bias: Floats


def inputs_of(heard: Heard, clause: Clause, ruled: FoundPlan | None, whole: Floats, own: Floats) -> Floats:
    """All inputs of the head, as it is trained on them."""
    features = features_of(heard, clause, ruled).dense()
    return np.concatenate([features, VECTOR_SCALE * whole, VECTOR_SCALE * own], dtype=np.float32)


def decide(features: Sparse, whole: Floats, own: Floats, speaker: Speaker) -> PlanKind | None:
    """What the head says of these inputs; of its tens of thousands of rows only those are read that count."""
    head = _head(speaker)
    words = np.array(features.values, np.float32) @ head.weights[features.places]
    meaning = np.concatenate([whole, own]) @ head.weights[BUCKETS:]
    return KINDS[speaker][int(np.argmax(words + VECTOR_SCALE * meaning + head.bias))]


@cache
def _head(speaker: Speaker) -> Head:
    with as_file(files(__package__) / FILE) as path, np.load(path) as arrays:
        head = Head(*(restored(f"{speaker}_{name}", arrays) for name in Head._fields))
    if head.weights.shape != (INPUTS, len(KINDS[speaker])):
        raise ConfigurationError(FILE, "was trained for other features; train it anew")
    return head
