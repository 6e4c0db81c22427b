"""How likely a request to a language model is an errand of a program and not a person's speech.

Patterns know the prompts of programs that were looked at; a linear head has learnt from many authors how such prompts
sound, and how people sound who ask for a title, a summary or JSON themselves. It reads what the patterns see as well.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import as_file, files
from math import exp, log2, sqrt
from typing import NamedTuple
from zlib import crc32

import numpy as np

from soulgraph.errors import ConfigurationError
from soulgraph.senses.arrays import Floats, restored

FILE = "head.npz"
BUCKETS = 1 << 14
"""Features are numbered by a hash; a second one gives their sign, so that those that share a number cancel out."""

_READ, _READ_END = 600, 300
"""Characters of a message that are read: what is wanted stands at its beginning or its end."""
_WORDS_WEIGHT, _TRAIT_WEIGHT = 4.0, 0.7
"""Of all word sequences of one place together, and of each other feature."""
_TOKEN = re.compile(
    r"[a-z]+(?:'[a-z]+)?|[\u4e00-\u9fff]|\d+|</?[\w-]+>?|#{1,6}|```|\"\"\"|[{}\[\]:?!\"“”*\n]", re.IGNORECASE
)
_HAN = "\u4e00"


class Asked(NamedTuple):
    """A request as it is judged: its last message and who wrote it, the system's words, and what was before."""

    said: str
    said_by: str
    system: str
    is_answered: bool
    """Whether a reply stands before the last message."""
    messages: int
    response_format: str
    forces_tool: bool
    seen: Sequence[str]
    """What the patterns see in it."""


class Sparse(NamedTuple):
    """The few buckets that are not empty; one may come twice, and then both its values count."""

    places: list[int]
    values: list[float]


def probability(asked: Asked) -> float:
    """That it is an errand."""
    weights, bias = _head()
    features = features_of(asked)
    score = float(np.array(features.values, np.float32) @ weights[features.places] + bias[0])
    return 1 / (1 + exp(-score))


def features_of(asked: Asked) -> Sparse:
    features = Sparse([], [])
    _add(features, _grams("begins", asked.said[:_READ]), _WORDS_WEIGHT)
    if len(asked.said) > _READ_END:
        _add(features, _grams("ends", asked.said[-_READ_END:]), _WORDS_WEIGHT)
    _add(features, _grams("system", asked.system[:_READ]), _WORDS_WEIGHT)
    traits = {*_traits(asked)}
    _add(features, traits, _TRAIT_WEIGHT * sqrt(len(traits)))
    return features


def _add(features: Sparse, names: Iterable[str], weight: float) -> None:
    """Each of them with the same part of the weight, by the length of the vector that they make together."""
    different = {*names}
    for name in different:
        number = crc32(name.encode(errors="backslashreplace"))
        sign = 1 if number >> 20 & 1 else -1
        features.places.append(number % BUCKETS)
        features.values.append(sign * weight / sqrt(len(different)))


def _traits(asked: Asked) -> Iterator[str]:
    yield f"said by {asked.said_by}"
    yield f"answered: {asked.is_answered}, system: {bool(asked.system)}"
    yield f"messages: {min(asked.messages, 6)}"
    yield f"length: {int(log2(len(asked.said) + 1))}"
    yield f"length of system: {int(log2(len(asked.system) + 1))}"
    yield f"format: {asked.response_format}"
    yield f"tool: {asked.forces_tool}"
    yield f"lines: {min(asked.said.count(chr(10)), 6)}"
    yield f"ends open: {asked.said.rstrip().endswith((':', '：', '='))}"
    yield from asked.seen


def _grams(where: str, text: str) -> Iterator[str]:
    """Of one and two words or characters, and of three Chinese ones."""
    tokens = ["0" if token.isdigit() else token.lower() for token in _TOKEN.findall(text)]
    for place, token in enumerate(tokens):
        yield f"{where}: {token}"
        if place:
            yield f"{where}: {tokens[place - 1]} {token}"
        if place > 1 and token >= _HAN:
            yield f"{where}: {''.join(tokens[place - 2 : place + 1])}"


@cache
def _head() -> tuple[Floats, Floats]:
    with as_file(files(__package__) / FILE) as path, np.load(path) as arrays:
        weights, bias = restored("weights", arrays), restored("bias", arrays)
    if weights.shape != (BUCKETS,):
        raise ConfigurationError(FILE, "was trained for other features; train it anew")
    return weights, bias
