"""The spelling of texts: TF-IDF vectors of character n-grams, and products of them.

There are many thousands of n-grams, of which a text has about a hundred, so no matrix of all is ever made. Those that
many texts share are the columns of a small one; of the others it is known which texts have them, which are few.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.text import normalise

GRAM_SIZES = range(2, 6)
COMMON_SHARE = 0.02
"""Of the texts that have an n-gram: above it a matrix product is faster than a look at each of them."""
_BYTES_PER_GRAM = 150  # a short string, and its place among the others

Scores = NDArray[np.float32]
Numbers = NDArray[np.int32]


class Spelled(NamedTuple):
    """The known n-grams of `size` texts: for each the number of the text, that of the n-gram, and its weight there."""

    size: int
    texts: Numbers
    grams: Numbers
    weights: Scores

    def part(self, start: int, end: int) -> "Spelled":
        """Those of the texts from `start` to `end`."""
        here = slice(*np.searchsorted(self.texts, [start, end]))
        return Spelled(end - start, self.texts[here] - start, self.grams[here], self.weights[here])

    def where(self, chosen: NDArray[np.bool_]) -> "Spelled":
        return Spelled(self.size, self.texts[chosen], self.grams[chosen], self.weights[chosen])


class Spelling:
    """The n-grams that some texts have. How alike two texts are is the product of `common` of both, plus `rare`."""

    def __init__(self, gram_sets: Sequence[set[str]]) -> None:
        self._size = len(gram_sets)
        having = Counter(gram for grams in gram_sets for gram in grams).most_common()
        self._number = {gram: i for i, (gram, _) in enumerate(having)}
        counts = np.array([count for _, count in having], dtype=np.int64)
        self._commons = int((counts > COMMON_SHARE * self._size).sum())  # they have the lowest numbers
        self._idf = np.log((1 + self._size) / (1 + counts)).astype(np.float32)
        self._unseen_weight = float(np.log(1 + self._size)) / 2
        self.own = self.spell(gram_sets)
        by_gram = np.argsort(self.own.grams, kind="stable")
        self._owners = self.own.texts[by_gram]
        self._weights = self.own.weights[by_gram]
        self._ends = np.cumsum(counts)
        self._starts = self._ends - counts

    @property
    def nbytes(self) -> int:
        arrays = self._idf, self._owners, self._weights, self._ends, self._starts, *self.own[1:]
        return sum(array.nbytes for array in arrays) + _BYTES_PER_GRAM * len(self._number)

    def spell(self, gram_sets: Iterable[set[str]]) -> Spelled:
        """Texts by their n-grams. Unknown ones make the vector of a text shorter than 1."""
        every = list(gram_sets)
        known = [[number for gram in grams if (number := self._number.get(gram)) is not None] for grams in every]
        sizes = np.array([len(numbers) for numbers in known], dtype=np.int64)
        unknown = np.array([len(grams) for grams in every], dtype=np.int64) - sizes
        texts = np.repeat(np.arange(len(every), dtype=np.int32), sizes)
        grams = np.array([number for numbers in known for number in numbers], dtype=np.int32)
        weights = self._idf[grams]
        squares = np.bincount(texts, weights**2, len(every)) + unknown * self._unseen_weight**2
        lengths = np.sqrt(squares).astype(np.float32)
        lengths[lengths == 0] = 1
        return Spelled(len(every), texts, grams, weights / lengths[texts])

    def common(self, spelled: Spelled) -> Scores:
        """The weights of the common n-grams, one row for each text."""
        common = spelled.where(spelled.grams < self._commons)
        weights = np.zeros((spelled.size, self._commons), dtype=np.float32)
        weights[common.texts, common.grams] = common.weights
        return weights

    def rare(self, spelled: Spelled) -> Scores:
        """How alike each text is to each of the own ones by the n-grams that are not common."""
        rare = spelled.where(spelled.grams >= self._commons)
        starts = self._starts[rare.grams]
        counts = self._ends[rare.grams] - starts
        before = np.cumsum(counts) - counts
        owned = np.arange(counts.sum()) + np.repeat(starts - before, counts)
        places = np.repeat(rare.texts.astype(np.int64) * self._size, counts) + self._owners[owned]
        products = np.repeat(rare.weights, counts) * self._weights[owned]
        alike = np.bincount(places, products, spelled.size * self._size)
        return alike.astype(np.float32).reshape(spelled.size, self._size)


def gram_set(text: str) -> set[str]:
    spelled = f" {' '.join(normalise(text).lower().split())} "
    return {spelled[i : i + size] for size in GRAM_SIZES for i in range(len(spelled) - size + 1)}
