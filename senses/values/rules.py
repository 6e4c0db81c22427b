"""How time words are found: rules are tried in order at each place of a text."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from soulgraph.senses.values.atoms import Atom
from soulgraph.soul.patterns import lazy_pattern

Match = re.Match[str]
Rule = tuple[str, Callable[[Match], Atom | None]]


class Found(NamedTuple):
    """An atom and where it stands."""

    start: int
    end: int
    atom: Atom


class Scanner:
    """Finds the atoms of one language, in time that grows with the length of the text alone."""

    def __init__(self, rules: Sequence[Rule], around: str = "{}") -> None:
        """`around` is a pattern with a place for each rule: what must stand at its borders."""
        self._rules = [(lazy_pattern(around.format(f"(?:{pattern})")), build) for pattern, build in rules]
        unnamed = (re.sub(r"\?P<\w+>", "?:", rule.pattern) for rule, _ in self._rules)
        self._any = lazy_pattern("|".join(f"({pattern})" for pattern in unnamed))

    def scan(self, text: str) -> Iterator[Found]:
        position = 0
        while candidate := self._any.search(text, position):
            found = self._build(text, candidate)
            position = found.end if found else candidate.start() + 1
            if found:
                yield found

    def _build(self, text: str, candidate: Match) -> Found | None:
        """By the first rule that matches here and takes it for a time."""
        for rule, build in self._rules[(candidate.lastindex or 1) - 1 :]:
            found = rule.match(text, candidate.start())
            atom = found and build(found)
            if found and atom:
                return Found(found.start(), found.end(), atom)
        return None
