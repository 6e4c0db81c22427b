"""What a clause looks like to the head that judges it: its words and those around it, and what the rules see in it."""

import re
from collections.abc import Iterable, Iterator
from math import sqrt
from typing import NamedTuple
from zlib import crc32

import numpy as np

from soulgraph.senses.arrays import Floats
from soulgraph.senses.plans.clauses import Clause
from soulgraph.senses.plans.finding import FoundPlan, Heard
from soulgraph.senses.plans.grammar import asks_reminder

BUCKETS = 1 << 15
"""Features are numbered by a hash; two that share a number are rare enough to harm little."""

_WORD_WEIGHT = 3.0  # of all word sequences together, against one for each other feature
_TOKEN = re.compile(r"[a-z']+|\d+|\S")


class Sparse(NamedTuple):
    """The few buckets that are not empty; one may come twice, and then both its values count."""

    places: list[int]
    values: list[float]

    def dense(self) -> Floats:
        """The value of every bucket."""
        values = np.zeros(BUCKETS, np.float32)
        np.add.at(values, self.places, np.array(self.values, np.float32))
        return values


def features_of(heard: Heard, clause: Clause, ruled: FoundPlan | None) -> Sparse:
    traits = _places(heard, _traits(heard, clause, ruled))
    sequences = _places(heard, _sequences(heard, clause))
    word_weight = _WORD_WEIGHT / sqrt(max(1, len(sequences)))
    return Sparse(traits + sequences, [1.0] * len(traits) + [word_weight] * len(sequences))


def _places(heard: Heard, names: Iterable[str]) -> list[int]:
    return [crc32(f"{heard.speaker} {name}".encode()) % BUCKETS for name in {*names}]


def _traits(heard: Heard, clause: Clause, ruled: FoundPlan | None) -> Iterator[str]:
    yield "always"
    yield f"rules: {ruled.kind if ruled else 'nothing'}"
    to_come = [time for time in clause.times if time.recurs or time.ends > heard.now]
    yield f"grain: {to_come[0].grain if to_come else 'none'}"
    flags = {
        "asked": clause.asked,
        "recurs": any(time.recurs for time in to_come),
        "past": len(to_come) < len(clause.times),
        "first": clause is heard.clauses[0],
        "last": clause is heard.clauses[-1],
        "alone": len(heard.clauses) == 1,
        "reminds": asks_reminder(clause, heard.words),
    }
    yield from (name for name, holds in flags.items() if holds)
    yield from (f"here: {name}" for name in heard.here(clause))
    yield from (f"somewhere: {name}" for name in heard.somewhere)


def _sequences(heard: Heard, clause: Clause) -> Iterator[str]:
    """Of up to three words, or Chinese characters, in the clause, and up to two beside it and in the whole."""
    place = heard.clauses.index(clause)
    yield from _grams("clause", clause.masked, 3)
    yield from _grams("before", heard.clauses[place - 1].masked if place else "", 2)
    yield from _grams("after", heard.clauses[place + 1].masked if place + 1 < len(heard.clauses) else "", 2)
    yield from _grams("whole", heard.whole, 2)


def _grams(where: str, text: str, most: int) -> Iterable[str]:
    tokens = ["^", *_TOKEN.findall(text), "$"]
    for length in range(1, most + 1):
        for start in range(len(tokens) - length + 1):
            yield f"{where}: {' '.join(tokens[start : start + length])}"
