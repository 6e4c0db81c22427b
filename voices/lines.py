"""Prepared lines: how they are read, and how souls of different mood and personality say them."""

import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

_BAR = " | "
_SAYS_MORE, _EXCLAIMS = 3, 5  # grades of expressiveness from which a soul does so
_LOW, _HIGH = 2, 4  # grades up to which a trait is low, and from which it is high


@cache
def load_lines(name: str) -> dict[str, Any]:
    return dict(yaml.load((files(__package__) / f"{name}.yaml").read_text("utf-8"), yaml.CSafeLoader))


def pick(options: Sequence[str], text: str) -> str:
    """One of the options, always the same for the same text."""
    # crc32, because Python's own hash of a string differs from process to process; modulo a prime, because the last
    # bits of two checksums differ in the same way whatever both texts begin with.
    return options[zlib.crc32(text.encode()) % 65521 % len(options)]


class Speaker(NamedTuple):
    """Who says a line: the key of its mood, and the grades of its traits from 1 to 5."""

    mood: str
    grades: Mapping[str, int]

    @property
    def mood_group(self) -> str:
        groups: dict[str, list[str]] = load_lines("offline_words")["mood_groups"]
        return next((group for group, moods in groups.items() if self.mood in moods), "even")

    @property
    def is_low(self) -> bool:
        return self.mood_group not in ("glad", "even")

    @property
    def is_talkative(self) -> bool:
        """Whether it adds anything to the shortest answer."""
        return self.grades["expressiveness"] >= _LOW

    @property
    def exclaims(self) -> bool:
        return self.grades["expressiveness"] >= _EXCLAIMS

    @property
    def temperaments(self) -> list[str]:
        """Which of warm, cool, blunt and yielding it is."""
        poles = {"empathy": ("cool", "warm"), "dominance": ("yielding", "blunt")}
        return [
            low if self.grades[trait] <= _LOW else high
            for trait, (low, high) in poles.items()
            if not _LOW < self.grades[trait] < _HIGH
        ]

    def pick(self, options: Sequence[str], text: str) -> str:
        """One of the options; another personality may choose another for the same text."""
        return pick(options, text + "".join(map(str, self.grades.values())))

    def say(self, options: Sequence[str], text: str) -> list[str]:
        """The sentences of one of the lines; a reserved soul leaves out those after the bar."""
        short, _, more = self.pick(options, text).partition(_BAR)
        return [short, more] if more and self.grades["expressiveness"] >= _SAYS_MORE else [short]
