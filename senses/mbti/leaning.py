"""To which side of each axis a text leans as a whole: a head on the built-in encoder, trained on many characters."""

import re
from functools import cache
from importlib.resources import as_file, files
from math import sqrt
from typing import NamedTuple

import numpy as np

from soulgraph.senses.arrays import Floats, restored
from soulgraph.senses.embedding.local import encode
from soulgraph.senses.mbti.traits import AXES

FILE = "head.npz"
_MAX_SENTENCES = 80
_MAX_CHARS = 300
_MIN_CHARS = 4
_SENTENCE_END = re.compile(r"[.!?。！？；;\n\"+]+")
_WEIGHT = 4.0
"""Of the leaning of a sentence against a word of the lexicon."""
_FEW = 3
"""So many sentences say little more than one: what leans a little everywhere is no character."""


class Head(NamedTuple):
    """A column for each axis: how much a sentence speaks for its first letter, -1 to 1."""

    weights: Floats
    bias: Floats


def leaning_of(text: str) -> dict[str, float]:
    """For each axis how much the text leans to its first letter; empty for an empty text. It blocks: use a thread."""
    sentences = sentences_of(text)
    if not sentences:
        return {}
    head = _head()
    leanings = (np.asarray(encode(sentences)) @ head.weights + head.bias).sum(axis=0)
    return {axis: _WEIGHT * float(one) / sqrt(len(sentences) + _FEW) for axis, one in zip(AXES, leanings, strict=True)}


def sentences_of(text: str) -> list[str]:
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part[:_MAX_CHARS] for part in parts if len(part) >= _MIN_CHARS][:_MAX_SENTENCES]


@cache
def _head() -> Head:
    with as_file(files(__package__) / FILE) as path, np.load(path) as arrays:
        return Head(restored("weights", arrays), restored("bias", arrays))
