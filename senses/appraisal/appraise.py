"""Appraises what a user's words are to the soul: the trained head and the rules of the words together."""

import math

from soulgraph.senses.appraisal.features import features_of
from soulgraph.senses.appraisal.head import Head, head
from soulgraph.senses.appraisal.reading import read
from soulgraph.senses.appraisal.rules import reasons, score
from soulgraph.senses.arrays import Floats
from soulgraph.soul.emotions import Appraisal

HEAD_BIAS = 0.4  # in log-odds; the head is cautious
WORDS_WEIGHT = 3.0  # in log-odds, of words that are certain
SHARPNESS = 1.5  # clear cases end near 0 or 1
EDGE = 0.02  # probabilities are kept this far from 0 and 1
TOLD = 0.3  # the head is a reason from here on


def appraise(text: str, vector: Floats, trained: Head | None = None) -> Appraisal:
    """The appraisal of a text with this embedding; `trained` is the shipped head unless given."""
    reading = read(text)
    toward, *heard = (trained or head()).judge(vector, features_of(reading))
    hostility, repair = (_blend(share, words) for share, words in zip(heard, score(reading), strict=True))
    told = (*reasons(reading), *_head_reasons(*heard))
    return Appraisal(round(max(toward, hostility, repair), 3), hostility, repair, told).sane()


def _blend(share: float, words: float) -> float:
    share = min(max(share, EDGE), 1 - EDGE)
    odds = math.log(share / (1 - share)) + HEAD_BIAS + (WORDS_WEIGHT * (2 * words - 1) if words else 0.0)
    return round(1 / (1 + math.exp(-SHARPNESS * odds)), 3)


def _head_reasons(hostile: float, repairing: float) -> tuple[str, ...]:
    named = (("hostile", hostile), ("kind", repairing))
    return tuple(f"sounds {name} ({share:.2f})" for name, share in named if share >= TOLD)
