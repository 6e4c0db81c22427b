"""Finds out by signs which of many patterns a text may have, so that it is not searched for all the others.

Most of our patterns are found in few texts. A text is cut into its pieces once, and then held against the signs.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from operator import add

from soulgraph.soul.pattern_signs import Signs

MAX_CHARS = 500  # of a text that is cut into pieces

_NO_WORD = re.compile(r"\W")
_LIKE_ASCII = str.maketrans("ſıİ", "sii")  # what `re.IGNORECASE` takes for a letter, and `lower` does not


class SignIndex:
    """The signs of many patterns, which are known by their numbers."""

    def __init__(self, patterns: Sequence[Sequence[Signs]]) -> None:
        """Each has one or more alternatives; without any, it may be in every text."""
        by_sign: defaultdict[str, list[tuple[int, Signs]]] = defaultdict(list)
        for number, alternatives in enumerate(patterns):
            for rarest, *others in alternatives:
                for sign in rarest:
                    by_sign[sign].append((number, tuple(others)))
        self._by_sign = dict(by_sign)
        self._signs = frozenset(by_sign)
        self._all = range(len(patterns))
        self._unsigned = [number for number in self._all if not patterns[number]]

    def candidates(self, text: str) -> Sequence[int]:
        """Those that the text may have, in their order."""
        if len(text) > MAX_CHARS:
            return self._all
        pieces = pieces_of(text)
        if self._signs.isdisjoint(pieces):
            return self._unsigned
        found = {
            number
            for sign in self._signs & pieces
            for number, others in self._by_sign[sign]
            if not any(some.isdisjoint(pieces) for some in others)
        }
        return sorted(found.union(self._unsigned))


@lru_cache(maxsize=32)
def pieces_of(text: str) -> frozenset[str]:
    """All that may be a sign in a text."""
    plain = text if text.isascii() else text.translate(_LIKE_ASCII)
    plain = plain.lower()
    words = f" {_NO_WORD.sub(' ', plain)} "
    pairs = [*map(add, words, words[1:])]
    return frozenset((" ", *plain, *pairs, *map(add, pairs, words[2:])))
