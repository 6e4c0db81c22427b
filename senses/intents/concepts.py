"""Concepts: what a clause speaks of, whatever words it uses, so that 帘子 means 窗帘 and "telly" the TV.

An intent's concepts are those of most of its own texts. A clause that has all of them asks for the intent; a clause
about another thing does not. The words are in `concepts.yaml`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

import yaml

from soulgraph.senses.intents.opposites import sides_in
from soulgraph.soul.patterns import lazy_pattern
from soulgraph.soul.short_texts import remembers_short

Concepts = frozenset[str]


_LOADED = yaml.load((files(__package__) / "concepts.yaml").read_text("utf-8"), yaml.CSafeLoader)
_PATTERNS: dict[str, str] = {**_LOADED["things"], **_LOADED["acts"], **_LOADED["ways"]}
_WORDS = {name: lazy_pattern(pattern, re.IGNORECASE) for name, pattern in _PATTERNS.items()}
_ASKING = lazy_pattern(_LOADED["asking"], re.IGNORECASE)
_REQUESTING = lazy_pattern(_LOADED["requesting"], re.IGNORECASE)
_BESIDE = lazy_pattern(_LOADED["beside"])
_STATING = lazy_pattern(_LOADED["stating"], re.IGNORECASE)
_ACTS = Concepts(_LOADED["acts"])
_WAYS = Concepts(_LOADED["ways"])
THINGS = Concepts(_LOADED["things"])
SUBJECTS = THINGS | _ACTS
"""What a clause can be about by itself: a thing, or an act that needs none."""


class Profile(NamedTuple):
    """The concepts that at least half of an intent's texts have, and those that any has."""

    core: Concepts
    known: Concepts

    @property
    def subjects(self) -> Concepts:
        """What the intent is about; without any its concepts do not tell: on and off alone mean nothing."""
        return self.core & SUBJECTS


@remembers_short(512)
def concepts_in(text: str) -> Concepts:
    """The things, the acts and the sides of opposites that a text names."""
    named = Concepts(name for name, words in _WORDS.items() if words.search(text))
    return named | {side.name for side in sides_in(text) if side.name != "made"}  # most requests make something


def profile_of(texts: Iterable[str]) -> Profile:
    found = [concepts_in(text) for text in texts]
    counts = Counter(name for concepts in found for name in concepts)
    core = Concepts(name for name, n in counts.items() if n >= len(found) / 2)
    return Profile(core if core & THINGS else core - _WAYS, Concepts(counts))


def asks(clause: str) -> bool:
    return _ASKING.search(clause) is not None


def requests(clause: str) -> bool:
    """Whether a clause asks the listener to do something, whatever it is; `asks` also takes mere wishes and hints."""
    return _REQUESTING.search(clause) is not None


def words_beside(text: str) -> int:
    """How many Chinese characters beside a bare command say more than when, where and how much."""
    for name in THINGS:
        text = _WORDS[name].sub("", text)
    return sum(char > "\u2e7f" for char in _BESIDE.sub("", text))


def states(clause: str) -> bool:
    return _STATING.search(clause) is not None
