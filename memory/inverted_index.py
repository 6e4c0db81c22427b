"""An inverted index scored by BM25: for each term, the rows that contain it and the term's weight there.

The index grows by segments. A new segment is merged with the one before it while that is at most twice as large, so
there are only a logarithmic number of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.ranking import Floats, bm25_tf, idf

Terms = NDArray[np.uint32]
Rows = NDArray[np.int32]

MAX_QUERY_TERMS = 48
"""A long text says what it is about with its rarest terms."""

_NO_ROWS: Rows = np.zeros(0, np.int32)
_NO_WEIGHTS: Floats = np.zeros(0, np.float32)


@dataclass(frozen=True, slots=True)
class Postings:
    """The rows that contain a term, its BM25 weight in each, and its idf."""

    rows: Rows
    weights: Floats
    idf: float


@dataclass(frozen=True, slots=True)
class Match:
    """How well the terms of a query match the indexed texts."""

    postings: Sequence[Postings]
    """Of each term of the query, the rarest first; idf is 1 for the whole query, so that all queries compare."""
    texts: int

    @property
    def known_terms(self) -> float:
        """The share of the query's idf that belongs to terms which occur in any text."""
        return float(sum(term.idf for term in self.postings if len(term.rows)))

    def scores(self) -> Floats:
        """By row: the BM25 score divided by the idf of the whole query; above 1 when a text repeats the terms."""
        found = [term for term in self.postings if len(term.rows)]
        rows = [_NO_ROWS, *(term.rows for term in found)]
        weights = [_NO_WEIGHTS, *(term.idf * term.weights for term in found)]
        # All postings at once: one addition for each term and segment takes several times as long.
        return np.bincount(np.concatenate(rows), np.concatenate(weights), self.texts).astype(np.float32)


@dataclass(frozen=True, slots=True)
class _Segment:
    """Postings sorted by term: a term, a row that contains it, and the term's BM25 weight in that row."""

    terms: Terms
    rows: Rows
    weights: Floats

    def postings_of(self, terms: Terms) -> list[slice]:
        """Where the postings of each of the terms are; an empty slice for a term that is not here."""
        starts = np.searchsorted(self.terms, terms)
        stops = np.searchsorted(self.terms, terms, "right")
        return list(map(slice, starts.tolist(), stops.tolist()))


class InvertedIndex:
    def __init__(self) -> None:
        self._segments: list[_Segment] = []
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, texts: Sequence[bytes]) -> None:
        """Index the texts of the next rows, each given as the packed 32-bit fingerprints of its terms."""
        lengths = np.array([len(text) // 4 for text in texts], np.int64)
        rows = np.repeat(np.arange(len(self), len(self) + len(texts), dtype=np.int32), lengths)
        self._segments.append(_new_segment(np.frombuffer(b"".join(texts), "<u4"), rows, lengths, len(self)))
        self._size += len(texts)
        while len(self._segments) > 1 and len(self._segments[-2].terms) <= 2 * len(self._segments[-1].terms):
            last = self._segments.pop()
            self._segments[-1] = _merge(self._segments[-1], last)

    def match(self, postings: Iterable[Postings]) -> Match:
        """Where the terms of a query occur, given the postings of each; of very many the rarest count."""
        found = sorted(postings, key=lambda term: -term.idf)[:MAX_QUERY_TERMS]
        total = max(sum(term.idf for term in found), 1e-9)
        return Match([Postings(term.rows, term.weights, term.idf / total) for term in found], len(self))

    def postings(self, terms: Iterable[int]) -> dict[int, Postings]:
        """The postings of each of the terms."""
        query = list(dict.fromkeys(terms))
        packed = np.array(query, np.uint32)
        by_segment = [(segment, segment.postings_of(packed)) for segment in self._segments]
        return {term: self._postings([(one, parts[n]) for one, parts in by_segment]) for n, term in enumerate(query)}

    def _postings(self, parts: Sequence[tuple[_Segment, slice]]) -> Postings:
        filled = [(segment, part) for segment, part in parts if part.start < part.stop]
        rows = [segment.rows[part] for segment, part in filled]
        weights = [segment.weights[part] for segment, part in filled]
        count = sum(map(len, rows))
        return Postings(_joined(rows, _NO_ROWS), _joined(weights, _NO_WEIGHTS), idf(count, len(self)))


def _joined(parts: list[NDArray[Any]], empty: NDArray[Any]) -> NDArray[Any]:
    """Most terms of a query occur nowhere, or in one segment only."""
    if len(parts) > 1:
        return np.concatenate(parts)
    return parts[0] if parts else empty


def _new_segment(terms: Terms, rows: Rows, lengths: NDArray[np.int64], first_row: int) -> _Segment:
    """Count how often each row contains each term, and weigh the counts by BM25."""
    # Term and row share one number, the term in its upper half: sorting plain integers is much faster than pairs.
    keys, counts = np.unique(terms.astype(np.uint64) << np.uint64(32) | rows.astype(np.uint64), return_counts=True)
    rows = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
    weights = bm25_tf(counts.astype(np.float32), lengths[rows - first_row].astype(np.float32))
    return _Segment((keys >> np.uint64(32)).astype(np.uint32), rows, weights)


def _merge(one: _Segment, other: _Segment) -> _Segment:
    terms = np.concatenate([one.terms, other.terms])
    rows = np.concatenate([one.rows, other.rows])
    weights = np.concatenate([one.weights, other.weights])
    order = np.argsort(terms, kind="stable")
    return _Segment(terms[order], rows[order], weights[order])
