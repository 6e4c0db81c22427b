"""Texts as the heads see them, many at a time."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

from soulgraph.senses.emotion.features import BUCKETS, extract_features
from soulgraph.senses.emotion.heads import VECTOR_SCALE, WORD_SCALE

Floats = NDArray[np.float32]
Encode = Callable[[list[str]], Floats]


class Seen(NamedTuple):
    """One row a text; `pieces` is a sparse matrix of ones."""

    vectors: Floats
    words: Floats
    pieces: Any

    @property
    def inputs(self) -> Floats:
        return np.hstack([self.vectors * VECTOR_SCALE, self.words * WORD_SCALE]).astype(np.float32)

    def where(self, rows: NDArray[np.bool_]) -> "Seen":
        return Seen(self.vectors[rows], self.words[rows], self.pieces[rows])


def see(texts: Sequence[str], encode: Encode) -> Seen:
    readings = [extract_features(text) for text in texts]
    counts = [len(reading.pieces) for reading in readings]
    places = np.concatenate([reading.pieces for reading in readings])
    ones = np.ones(len(places), np.float32)
    pieces = sparse.csr_matrix((ones, places, np.cumsum([0, *counts])), shape=(len(texts), BUCKETS))
    return Seen(encode(list(texts)), np.array([reading.words for reading in readings]), pieces)


def together(*parts: Seen) -> Seen:
    pieces = sparse.vstack([part.pieces for part in parts]).tocsr()
    return Seen(np.vstack([part.vectors for part in parts]), np.vstack([part.words for part in parts]), pieces)
