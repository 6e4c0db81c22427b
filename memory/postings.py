"""Which texts have which terms. Grows by segments that are merged like the digits of a counter that carries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.ranking import Floats, rarity, saturated

Numbers = NDArray[np.uint32]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Segment:
    """Pairs of a term and a row, sorted by term, with how often it occurs there."""

    terms: Numbers
    rows: Rows
    counts: Floats

    def holders(self, term: int) -> slice:
        start, stop = (int(np.searchsorted(self.terms, np.uint32(term), side)) for side in ("left", "right"))
        return slice(start, stop)


class Postings:
    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._length: Floats = np.zeros(0, np.float32)

    def __len__(self) -> int:
        return len(self._length)

    def add(self, texts: Sequence[bytes]) -> None:
        """The fingerprints of the next rows' texts."""
        terms = [np.frombuffer(text, "<u4") for text in texts]
        lengths = np.array([len(text) for text in terms], np.float32)
        rows = np.repeat(np.arange(len(self), len(self) + len(texts)), lengths.astype(np.int64))
        self._length = np.concatenate([self._length, lengths])
        self._segments.append(_counted(np.concatenate(terms) if terms else np.zeros(0, np.uint32), rows))
        while len(self._segments) > 1 and len(self._segments[-2].terms) <= 2 * len(self._segments[-1].terms):
            last = self._segments.pop()
            self._segments[-1] = _merged(self._segments[-1], last)

    def match(self, terms: Sequence[int]) -> Floats:
        """For each row the share of the question's weight that it carries, by BM25; above 1 if it repeats itself."""
        scores, whole = np.zeros(len(self), np.float32), 0.0
        usual = float(self._length.mean()) if len(self) else 0.0
        for term in dict.fromkeys(terms):
            found = [(segment, segment.holders(term)) for segment in self._segments]
            weight = rarity(sum(held.stop - held.start for _, held in found), len(self))
            whole += weight
            for segment, held in found:
                rows = segment.rows[held]
                scores[rows] += weight * saturated(segment.counts[held], self._length[rows], usual)
        return scores / max(whole, 1e-9)


def _counted(terms: Numbers, rows: Rows) -> _Segment:
    order = np.lexsort((rows, terms))
    terms, rows = terms[order], rows[order]
    new = np.ones(len(terms), bool)
    new[1:] = (terms[1:] != terms[:-1]) | (rows[1:] != rows[:-1])
    starts = np.flatnonzero(new)
    counts = np.diff(np.append(starts, len(terms))).astype(np.float32)
    return _Segment(terms[starts].astype(np.uint32), rows[starts], counts)


def _merged(one: _Segment, other: _Segment) -> _Segment:
    terms = np.concatenate([one.terms, other.terms])
    order = np.argsort(terms, kind="stable")
    rows, counts = np.concatenate([one.rows, other.rows]), np.concatenate([one.counts, other.counts])
    return _Segment(terms[order], rows[order], counts[order])
