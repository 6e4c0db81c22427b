"""Appraises what a user's words are to the soul: the trained head and the rules of the words together."""

import math

from soulgraph.senses.appraisal.features import features_of
from soulgraph.senses.appraisal.head import Head, head
from soulgraph.senses.appraisal.reading import Reading, read
from soulgraph.senses.appraisal.rules import reasons, score
from soulgraph.senses.arrays import Floats
from soulgraph.soul.emotions import Appraisal

HEAD_BIAS = 0.4  # in log-odds; the head is cautious
UNADDRESSED_BIAS = -0.8  # in its place, for an attack that neither names the listener nor holds a known word
FORBIDDING_BIAS = -0.8  # in its place, for what the listener is told not to do: it sounds like comfort (你别那么啰嗦)
WORDS_WEIGHT = 4.0  # in log-odds, of words that are certain
SHARPNESS = 1.5  # clear cases end near 0 or 1
EDGE = 0.02  # probabilities are kept this far from 0 and 1
_PROHIBITIONS = ("别", "不要", "莫")
TOLD = 0.3  # the head is a reason from here on


def appraise(text: str, vector: Floats, trained: Head | None = None) -> Appraisal:
    """The appraisal of a text with this embedding; `trained` is the shipped head unless given."""
    reading = read(text)
    toward, *heard = (trained or head()).judge(vector, features_of(reading))
    hostile_words, kind_words = score(reading)
    hostility = _blend(heard[0], hostile_words, HEAD_BIAS if _is_addressed(reading) else UNADDRESSED_BIAS)
    repair = _blend(heard[1], kind_words, FORBIDDING_BIAS if _is_forbidden(reading) else HEAD_BIAS)
    told = (*reasons(reading), *_head_reasons(*heard))
    return Appraisal(round(max(toward, hostility, repair), 3), hostility, repair, told).sane()


def _is_addressed(reading: Reading) -> bool:
    return bool(reading.findings) or any(person.kind == "you" for person in reading.persons)


def _is_forbidden(reading: Reading) -> bool:
    """Whether nothing kind or hostile is found, and the listener is told not to do something."""
    addressed = {person.end for person in reading.persons if person.kind == "you"}
    prohibitions = {
        turn.start for turn in reading.turns if "".join(reading.units[turn.start : turn.end]) in _PROHIBITIONS
    }
    return not reading.findings and bool(addressed & prohibitions)


def _blend(share: float, words: float, bias: float) -> float:
    share = min(max(share, EDGE), 1 - EDGE)
    odds = math.log(share / (1 - share)) + bias + (WORDS_WEIGHT * (2 * words - 1) if words else 0.0)
    return round(1 / (1 + math.exp(-SHARPNESS * odds)), 3)


def _head_reasons(hostile: float, repairing: float) -> tuple[str, ...]:
    named = (("hostile", hostile), ("kind", repairing))
    return tuple(f"sounds {name} ({share:.2f})" for name, share in named if share >= TOLD)
