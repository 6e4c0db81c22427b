"""The features of a text that the head of the appraisal takes beside the embedding."""

import math

import numpy as np

from soulgraph.senses.appraisal.lexicon import ATTACKS, REPAIRS, TURNS
from soulgraph.senses.appraisal.reading import Reading
from soulgraph.senses.appraisal.rules import score
from soulgraph.senses.arrays import Floats

PERSONS = ("you", "self", "third", "thing", "pointing")
STATES = ("aimed", "denied", "away")
FOUND = tuple(f"{kind}:{state}" for kind in (*ATTACKS, *REPAIRS) for state in STATES)
SHAPE = ("quotes", "reported", "asks", "shouts", "clauses", "length", "chinese", "you first", "self first", "you last")
SCORES = ("hostility", "repair", "only hostile", "only kind")
LAYOUT = (*FOUND, *SCORES, *PERSONS, *TURNS, *SHAPE)


def features_of(reading: Reading) -> Floats:
    """One number a name of `LAYOUT`."""
    found = [f"{finding.kind}:{finding.state}" for finding in reading.findings]
    persons = [person.kind for person in reading.persons]
    turns = [turn.kind for turn in reading.turns]
    hostility, repair = score(reading)
    scores = [hostility, repair, max(0.0, hostility - repair), max(0.0, repair - hostility)]
    counts = [_share(found, FOUND), scores, _share(persons, PERSONS), _share(turns, TURNS)]
    return np.array([*(value for part in counts for value in part), *_shape(reading, persons)], dtype=np.float32)


def _share(found: list[str], names: tuple[str, ...]) -> list[float]:
    return [min(found.count(name), 2) / 2 for name in names]


def _shape(reading: Reading, persons: list[str]) -> list[float]:
    units = reading.units
    return [
        min(reading.quotes, 2) / 2,
        reading.reported,
        "?" in units or "吗" in units,
        min(units.count("!"), 3) / 3,
        min(reading.clauses, 6) / 6,
        math.log1p(len(units)) / 4,
        any("\u4e00" <= unit[0] <= "\u9fff" for unit in units),
        persons[:1] == ["you"],
        persons[:1] == ["self"],
        persons[-1:] == ["you"],
    ]
