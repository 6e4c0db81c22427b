"""How time words are found: rules are tried in order at each place of a text."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from soulgraph.senses.values.atoms import Atom
from soulgraph.soul.patterns import PatternIndex, lazy_pattern

Match = re.Match[str]
Build = Callable[[Match], Atom | None]
Rule = tuple[str, Build]


class Found(NamedTuple):
    """An atom and where it stands."""

    start: int
    end: int
    atom: Atom


class Scanner:
    """Finds the atoms of one language, in time that grows with the length of the text alone."""

    def __init__(self, rules: Sequence[Rule], around: str = "{}") -> None:
        """`around` is a pattern with a place for each rule: what must stand at its borders."""
        self._builds = [build for _, build in rules]
        self._patterns = PatternIndex(
            {number: lazy_pattern(around.format(f"(?:{pattern})")) for number, (pattern, _) in enumerate(rules)}
        )

    def scan(self, text: str) -> Iterator[Found]:
        rules = [(self._builds[number], pattern) for number, pattern in self._patterns.candidates(text)]
        starts = [-1] * len(rules)  # where each of them is found next
        position = 0
        while rules:
            for number, (_, pattern) in enumerate(rules):
                if starts[number] < position:
                    match = pattern.search(text, position)
                    starts[number] = match.start() if match else len(text) + 1
            start = min(starts)
            if start > len(text):
                return
            found = _built(text, start, rules[starts.index(start) :])
            position = found.end if found else start + 1
            if found:
                yield found


def _built(text: str, start: int, rules: Sequence[tuple[Build, re.Pattern[str]]]) -> Found | None:
    """By the first rule that matches here and takes it for a time."""
    for build, pattern in rules:
        match = pattern.match(text, start)
        atom = match and build(match)
        if match and atom:
            return Found(match.start(), match.end(), atom)
    return None
