"""Concepts: what a clause speaks of, whatever words it uses, so that 帘子 means 窗帘 and "telly" the TV.

An intent's concepts are those of most of its own texts. A clause that has all of them asks for the intent; a clause
about another thing does not. The words are in `concepts.yaml`.
"""

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

import yaml

from soulgraph.senses.intents.opposites import sides_in

Concepts = frozenset[str]


def _load() -> tuple[dict[str, re.Pattern[str]], Concepts, re.Pattern[str]]:
    loaded = yaml.safe_load((files(__package__) / "concepts.yaml").read_text("utf-8"))
    patterns = {**loaded["things"], **loaded["acts"]}
    words = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()}
    return words, Concepts(loaded["things"]), re.compile(loaded["asking"], re.IGNORECASE)


_WORDS, THINGS, _ASKING = _load()


class Profile(NamedTuple):
    """The concepts that at least half of an intent's texts have, and those that any has."""

    core: Concepts
    known: Concepts

    @property
    def things(self) -> Concepts:
        return self.known & THINGS


@lru_cache(maxsize=4096)
def concepts_in(text: str) -> Concepts:
    """The things, the acts and the sides of opposites that a text names."""
    named = Concepts(name for name, words in _WORDS.items() if words.search(text))
    return named | {side.name for side in sides_in(text) if side.name != "made"}  # most requests make something


def profile_of(texts: Iterable[str]) -> Profile:
    found = [concepts_in(text) for text in texts]
    counts = Counter(name for concepts in found for name in concepts)
    core = Concepts(name for name, n in counts.items() if n >= len(found) / 2)
    return Profile(core, Concepts(counts))


def asks(clause: str) -> bool:
    return _ASKING.search(clause) is not None
