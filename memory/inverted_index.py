"""Which texts have which terms. Grows by segments that are merged like the digits of a counter that carries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.ranking import Floats, bm25_tf, idf

Numbers = NDArray[np.uint32]
Rows = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Match:
    """How a question's words meet the texts."""

    shares: Floats
    """By row: the share of the question's weight that it carries, by BM25; above 1 if it repeats itself."""
    familiar: float
    """The share of that weight that any of the texts carries."""


@dataclass(frozen=True, slots=True)
class _Segment:
    """Pairs of a term and a row, sorted by term, with what it says there."""

    terms: Numbers
    rows: Rows
    says: Floats

    def holders(self, terms: Numbers) -> list[slice]:
        """Where the pairs of each of the terms are."""
        starts, stops = np.searchsorted(self.terms, terms), np.searchsorted(self.terms, terms, "right")
        return list(map(slice, starts.tolist(), stops.tolist()))


class InvertedIndex:
    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, texts: Sequence[bytes]) -> None:
        """The fingerprints of the next rows' texts."""
        lengths = np.array([len(text) // 4 for text in texts], np.int64)
        rows = np.repeat(np.arange(len(self), len(self) + len(texts), dtype=np.int32), lengths)
        self._segments.append(_counted(np.frombuffer(b"".join(texts), "<u4"), rows, lengths, len(self)))
        self._size += len(texts)
        while len(self._segments) > 1 and len(self._segments[-2].terms) <= 2 * len(self._segments[-1].terms):
            last = self._segments.pop()
            self._segments[-1] = _merged(self._segments[-1], last)

    def match(self, terms: Sequence[int]) -> Match:
        different = np.array(list(dict.fromkeys(terms)), np.uint32)
        found = [(segment, segment.holders(different)) for segment in self._segments]
        holders = [sum(held[n].stop - held[n].start for _, held in found) for n in range(len(different))]
        weights = np.array([idf(many, len(self)) for many in holders], np.float32)
        weights /= max(float(weights.sum()), 1e-9)
        shares = np.zeros(len(self), np.float32)
        for segment, held in found:
            for weight, where in zip(weights, held, strict=True):
                shares[segment.rows[where]] += weight * segment.says[where]
        return Match(shares, float(weights[np.array(holders, int) > 0].sum()))


def _counted(terms: Numbers, rows: Rows, lengths: NDArray[np.int64], first: int) -> _Segment:
    """Equal pairs become one that counts them. A pair is sorted as one number, its term in the upper half."""
    pairs, counts = np.unique(terms.astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64), return_counts=True)
    rows = (pairs & np.uint64(0xFFFFFFFF)).astype(np.int32)
    says = bm25_tf(counts.astype(np.float32), lengths[rows - first].astype(np.float32))
    return _Segment((pairs >> np.uint64(32)).astype(np.uint32), rows, says)


def _merged(one: _Segment, other: _Segment) -> _Segment:
    terms = np.concatenate([one.terms, other.terms])
    order = np.argsort(terms, kind="stable")
    rows, says = np.concatenate([one.rows, other.rows]), np.concatenate([one.says, other.says])
    return _Segment(terms[order], rows[order], says[order])
