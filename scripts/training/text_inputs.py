"""The inputs of the emotion heads for many texts at a time."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # type: ignore[import-untyped]

from soulgraph.senses.emotion.features import BUCKETS, extract_features
from soulgraph.senses.emotion.heads import VECTOR_SCALE, WORD_SCALE

Floats = NDArray[np.float32]
Encode = Callable[[list[str]], Floats]


class TextInputs(NamedTuple):
    """One row per text; `pieces` is a sparse matrix of ones."""

    vectors: Floats
    words: Floats
    pieces: Any

    @property
    def inputs(self) -> Floats:
        return np.hstack([self.vectors * VECTOR_SCALE, self.words * WORD_SCALE]).astype(np.float32)

    def where(self, rows: NDArray[np.bool_]) -> "TextInputs":
        return TextInputs(self.vectors[rows], self.words[rows], self.pieces[rows])


def text_inputs(texts: Sequence[str], encode: Encode) -> TextInputs:
    features = [extract_features(text) for text in texts]
    counts = [len(feature.pieces) for feature in features]
    columns = np.concatenate([feature.pieces for feature in features])
    ones = np.ones(len(columns), np.float32)
    pieces = sparse.csr_matrix((ones, columns, np.cumsum([0, *counts])), shape=(len(texts), BUCKETS))
    return TextInputs(encode(list(texts)), np.array([feature.words for feature in features]), pieces)


def concat_inputs(*parts: TextInputs) -> TextInputs:
    pieces = sparse.vstack([part.pieces for part in parts]).tocsr()
    return TextInputs(np.vstack([part.vectors for part in parts]), np.vstack([part.words for part in parts]), pieces)
