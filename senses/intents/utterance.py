"""An utterance as the intent filter sees it: where words stand, and which clause they stand in."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from soulgraph.senses.intents.patterns import REACH, compiled
from soulgraph.senses.text import normalise

HEARD = 500  # characters; what is longer than that is a story, not a command

_BOUNDARY = re.compile(
    r"[,;!?，。；！？、\n]+|[.:](?!\d)|然后|接着|随后|并且|同时|还有|但是?|再|和|\b(?:and then|and|then|but|also)\b",
    re.IGNORECASE,
)
_WORD_EDGE = "[a-z0-9]"


class Span(NamedTuple):
    start: int
    end: int

    @property
    def length(self) -> int:
        return self.end - self.start

    def overlaps(self, other: "Span") -> bool:
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True)
class Utterance:
    text: str
    clauses: list[Span]

    @classmethod
    def of(cls, text: str) -> "Utterance":
        heard = " ".join(normalise(text).split())[:HEARD]
        edges = [0, *(found.end() for found in _BOUNDARY.finditer(heard)), len(heard)]
        return cls(heard, [Span(*pair) for pair in pairwise(edges)])

    def find(self, word: str) -> list[Span]:
        return find_word(word, self.text)

    def search(self, pattern: str) -> list[Span]:
        """Where a pattern matches; one made of look-aheads alone speaks of all it saw."""
        seen = self.text[:REACH]
        found = compiled(pattern).search(seen)
        return [Span(*found.span()) if found[0] else Span(0, len(seen))] if found else []

    def part(self, span: Span) -> str:
        return self.text[span.start : span.end]

    def clause_at(self, position: int) -> int:
        return next(i for i, clause in enumerate(self.clauses) if position < clause.end)


def find_word(word: str, text: str) -> list[Span]:
    """Chinese anywhere, English as whole words, in the singular or the plural."""
    return [Span(*found.span()) for found in _finder(word).finditer(text)]


@lru_cache(maxsize=8192)
def _finder(word: str) -> re.Pattern[str]:
    word = normalise(word)
    head = f"(?<!{_WORD_EDGE})" if _is_latin(word[0]) else ""
    tail = f"(?:e?s)?(?!{_WORD_EDGE})" if _is_latin(word[-1]) else ""
    return re.compile(head + r"\s+".join(map(re.escape, word.split())) + tail, re.IGNORECASE)


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalnum()
