"""Finds out by n-grams which of many patterns a text may have, so that it is not searched for all the others.

Most of our patterns are found in few texts. A text is cut into its n-grams once, and then held against those of the
patterns: a trigram index turned round, for code search keeps the texts and asks with a pattern.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from operator import add

from soulgraph.soul.required_ngrams import Ngrams

MAX_CHARS = 500  # of a text that is cut into pieces

_NO_WORD = re.compile(r"\W")
_LIKE_ASCII = str.maketrans("ſıİ", "sii")  # what `re.IGNORECASE` takes for a letter, and `lower` does not


class NgramIndex:
    """The n-grams that many patterns require; patterns are known by their numbers."""

    def __init__(self, patterns: Sequence[Sequence[Ngrams]]) -> None:
        """Each has one or more alternatives; without any, it may be in every text."""
        by_ngram: defaultdict[str, list[tuple[int, Ngrams]]] = defaultdict(list)
        for number, alternatives in enumerate(patterns):
            for rarest, *others in alternatives:
                for ngram in rarest:
                    by_ngram[ngram].append((number, tuple(others)))
        self._by_ngram = dict(by_ngram)
        self._ngrams = frozenset(by_ngram)
        self._all = range(len(patterns))
        self._unfiltered = [number for number in self._all if not patterns[number]]

    def candidates(self, text: str) -> Sequence[int]:
        """Those that the text may have, in their order."""
        if len(text) > MAX_CHARS:
            return self._all
        pieces = ngrams_in(text)
        if self._ngrams.isdisjoint(pieces):
            return self._unfiltered
        found = {
            number
            for ngram in self._ngrams & pieces
            for number, others in self._by_ngram[ngram]
            if not any(some.isdisjoint(pieces) for some in others)
        }
        return sorted(found.union(self._unfiltered))


@lru_cache(maxsize=32)
def ngrams_in(text: str) -> frozenset[str]:
    """All of a text that a pattern may require."""
    plain = text if text.isascii() else text.translate(_LIKE_ASCII)
    plain = plain.lower()
    words = f" {_NO_WORD.sub(' ', plain)} "
    pairs = [*map(add, words, words[1:])]
    return frozenset((" ", *plain, *pairs, *map(add, pairs, words[2:])))
