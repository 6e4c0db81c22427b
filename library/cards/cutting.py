"""Cuts what is too long for a character, at the end of a sentence or a word, and says what was cut."""

import re
from collections.abc import Sequence
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


def cut_text(text: str, limit: int) -> str:
    """At most so many characters of a text, up to the end of a sentence, or of a word if no sentence ends near."""
    if len(text) <= limit:
        return text
    for end in (_SENTENCE_END, _WORD_END):
        ends = [match.end() for match in end.finditer(text, int(limit * _SHORTEST), limit + 1) if match.end() <= limit]
        if ends:
            return text[: ends[-1]].rstrip()
    return text[:limit].rstrip()
