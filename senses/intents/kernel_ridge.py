"""Kernel ridge regression, solved by blocks of rows: it can be given up between two, and holds half of a matrix.

With K the kernel plus the ridge, each block of rows is made independent of those before, as in Gauss's elimination:
M K Mᵀ = D, where M is lower triangular and D has blocks on its diagonal alone. So the inverse of K is Mᵀ D⁻¹ M, and
grows by one summand with each block. K is never needed as a whole.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from soulgraph.senses.intents.pieces import Pieces

BLOCK = 256

Matrix = NDArray[np.float32]


class Solution(NamedTuple):
    """The weight of every row for every class, and the scores that every row would get without itself."""

    weights: Matrix
    left_out: Matrix


class _Block(NamedTuple):
    """Some rows of M up to the diagonal, and the inverse of their part of D."""

    rows: Matrix
    inverse: Matrix


def solve(kernel: Callable[[int, int], Matrix], classes: NDArray[np.int64], ridge: float) -> Pieces[Solution]:
    """`kernel(start, end)` are rows of the kernel, up to the diagonal; `classes` are those of the rows, ascending."""
    size = len(classes)
    first_rows = np.searchsorted(classes, np.arange(classes[-1] + 1))
    edges = [*range(0, size, BLOCK), size]
    # All blocks in one piece of memory: among short-lived arrays they would leave holes as large as themselves.
    memory = np.empty(sum(end * (end - start) for start, end in pairwise(edges)), dtype=np.float32)
    blocks: list[_Block] = []
    weights = np.zeros((size, len(first_rows)), dtype=np.float32)
    diagonal = np.zeros(size, dtype=np.float32)
    for start, end in pairwise(edges):
        room, memory = np.split(memory, [end * (end - start)])
        block = _eliminate(kernel(start, end), blocks, ridge, out=room.reshape(end - start, end))
        blocks.append(block)
        scaled = block.inverse @ block.rows
        by_class = np.add.reduceat(block.rows, first_rows[first_rows < end], axis=1)
        weights[:end, : by_class.shape[1]] += scaled.T @ by_class
        diagonal[:end] += np.einsum("ij,ij->j", scaled, block.rows)
        yield
    left_out = -weights / diagonal[:, None]
    left_out[np.arange(size), classes] += 1
    return Solution(weights, left_out)


def _eliminate(rows: Matrix, before: list[_Block], ridge: float, out: Matrix) -> _Block:
    """The block of M for these rows of K, written to `out`."""
    size, width = rows.shape
    identity = np.eye(size, dtype=np.float32)
    own = rows[:, width - size :] + ridge * identity
    out[:, : width - size] = 0
    out[:, width - size :] = identity
    for block in before:
        end = block.rows.shape[1]
        shared = rows[:, :end] @ block.rows.T
        scaled = shared @ block.inverse
        out[:, :end] -= scaled @ block.rows
        own -= scaled @ shared.T
    return _Block(out, np.linalg.inv(own).astype(np.float32, copy=False))
