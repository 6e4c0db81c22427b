"""An utterance as the intent filter uses it: its clauses, and searches that return spans."""

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from soulgraph.senses.intents.opposites import Side, sides_in
from soulgraph.senses.intents.patterns import RegexBudget
from soulgraph.senses.text import clean_utterance, normalise
from soulgraph.soul.short_texts import remembers_short

_BOUNDARY = re.compile(
    r"[,;!?，。；！？、\n]+|[.:](?!\d)|然后|接着|随后|并且|同时|顺便|还有(?=\W|[把帮给请让关开定放])|但是?|再(?=[把给帮去开关放播调打讲跳拍定设提锁拉点])|和"
    r"|\b(?:and then|and|then|but|also)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile('[“「『](.+?)[”」』]|(?<![a-z])"(.+?)"|《(.+?)》', re.IGNORECASE)
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
class ParsedUtterance:
    text: str
    clauses: tuple[Span, ...]
    budget: RegexBudget = field(default_factory=RegexBudget, compare=False)

    @classmethod
    def of(cls, text: str) -> "ParsedUtterance":
        line = clean_utterance(text).replace("俺", "我")
        return cls(line, _clauses(line))

    def find(self, word: str) -> list[Span]:
        return find_word(word, self.text) if folded(word) in self._folded else []

    def search(self, pattern: str) -> list[Span]:
        """The matches within clauses, or that of the whole text if no clause has one."""
        found = self._searched(pattern, Span(0, len(self.text)))
        if not found or len(self.clauses) == 1:
            return found
        return [match for clause in self.clauses for match in self._searched(pattern, clause)] or found

    def _searched(self, pattern: str, where: Span) -> list[Span]:
        """The span of the first match; an empty match, as of look-aheads alone, spans all of the searched text."""
        found = self.budget.search(pattern, self.part(where))
        if not found:
            return []
        start, end = found.span() if found[0] else (0, found.endpos)
        return [Span(where.start + start, where.start + end)]

    def without_quotations(self, span: Span) -> str:
        """The words of a span without what is quoted in them, unless all is."""
        words = self.part(span)
        return _QUOTED.sub(" ", words) if len(self.text) - len(_QUOTED.sub("", self.text)) < len(self.text) else words

    def is_quoted(self, span: Span) -> bool:
        """Whether a span stands inside of quotation marks that do not hold all that was said."""
        whole = len(self.text) - 3
        return any(
            start <= span.start and span.end <= end and end - start < whole
            for start, end in (found.span(found.lastindex or 0) for found in _QUOTED.finditer(self.text))
        )

    @cached_property
    def _folded(self) -> str:
        return folded(self.text)

    @cached_property
    def sides(self) -> tuple[Side, ...]:
        return sides_in(self.text)

    def sides_within(self, span: Span) -> list[Side]:
        return [side for side in self.sides if span.start <= side.at < span.end]

    def part(self, span: Span) -> str:
        return self.text[span.start : span.end]

    def clause(self, span: Span) -> str:
        """The clause a span begins in."""
        return self.part(self.clauses[self.clause_at(span.start)])

    def spans_clauses(self, span: Span) -> bool:
        return self.clause_at(span.start) != self.clause_at(span.end - 1)

    def clause_at(self, position: int) -> int:
        return next(i for i, clause in enumerate(self.clauses) if position < clause.end)


@remembers_short(256)
def _clauses(line: str) -> tuple[Span, ...]:
    edges = [0, *(found.end() for found in _BOUNDARY.finditer(line)), len(line)]
    return tuple(Span(*pair) for pair in pairwise(edges))


def without_conjunctions(clause: str) -> str:
    """A clause without the punctuation and conjunctions that separate clauses."""
    return _BOUNDARY.sub(" ", clause)


def find_word(word: str, text: str) -> list[Span]:
    """The spans of a word: Chinese anywhere, English as a whole word, singular or plural."""
    return [Span(*found.span()) for found in _finder(word).finditer(text)]


@remembers_short(1024)
def folded(text: str) -> str:
    """Normalised, in lower case, with single spaces; a quick check for keywords."""
    return " ".join(normalise(text).lower().split())


@lru_cache(maxsize=8192)
def _finder(word: str) -> re.Pattern[str]:
    word = normalise(word)
    head = f"(?<!{_WORD_EDGE})" if _is_latin(word[0]) else ""
    tail = f"(?:e?s)?(?!{_WORD_EDGE})" if _is_latin(word[-1]) else ""
    return re.compile(head + r"\s+".join(map(re.escape, word.split())) + tail, re.IGNORECASE)


def _is_latin(char: str) -> bool:
    return char.isascii() and char.isalnum()
