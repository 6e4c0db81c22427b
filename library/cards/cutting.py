"""Cuts what is too long for a character, at the end of a sentence or a word, and says what was cut."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

_SENTENCE_END = re.compile(r"[.!?。！？…\n][\"'”’」』）)*]*(?=\s|$|[^\x00-\x7f])")
_WORD_END = re.compile(r"\S(?=\s)")
_SHORTEST = 2 / 3
"""How much of the limit a text that ends with a sentence must fill; else it ends with a word."""

T = TypeVar("T")


@dataclass(slots=True)
class Cutter:
    """Brings texts and lists within their limits; `notes` say which were not, by their place in the file."""

    notes: list[str] = field(default_factory=list)
    refused: int = 0
    """How many regular expressions were left out."""

    def text(self, text: str, limit: int, place: str) -> str:
        """The text within the limit."""
        kept = cut_text(text, limit)
        if len(kept) < len(text):
            self.notes.append(f"{place}: {len(kept):,} of {len(text):,} characters are kept, at most {limit:,} can be")
        return kept

    def first(self, items: Sequence[T], limit: int, place: str) -> list[T]:
        """The first items, as many as the limit allows."""
        if len(items) > limit:
            self.notes.append(f"{place}: the first {limit:,} of {len(items):,} are kept, more cannot be")
        return [*items[:limit]]


def fair_shares(lengths: Mapping[str, int], limit: int) -> dict[str, int]:
    """How long each of several texts may be within a limit: short ones stay whole, long ones share what is left."""
    shares: dict[str, int] = {}
    by_length = sorted(lengths, key=lambda name: lengths[name])
    for n, name in enumerate(by_length):
        left = limit - sum(shares.values())
        shares[name] = min(lengths[name], left // (len(by_length) - n))
    return shares


def cut_text(text: str, limit: int) -> str:
    """At most so many characters of a text, up to the end of a sentence, or of a word if no sentence ends near."""
    if len(text) <= limit:
        return text
    for end in (_SENTENCE_END, _WORD_END):
        ends = [match.end() for match in end.finditer(text, int(limit * _SHORTEST), limit + 1) if match.end() <= limit]
        if ends:
            return text[: ends[-1]].rstrip()
    return text[:limit].rstrip()
