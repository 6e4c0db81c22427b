"""Which texts are near in meaning. What all texts have in common, and what tells those who speak apart (one tells, the
other asks), says nothing of what a text is about: both are taken out of each vector."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.growable_array import Column
from soulgraph.memory.ranking import Floats, top_k

_FEW = 4096  # rows that are compared one by one; of more, a sketch says which are worth it
_SKETCH = 64
_DOUBT = 64  # texts it takes to know half of what texts have in common, and of each speaker to know their manner

Rows = NDArray[np.int64]


class VectorIndex:
    """Vectors by row, in half precision. Rows that have none yet are near to nothing."""

    def __init__(self, size: int) -> None:
        self._vectors = Column(np.float16, size)
        self._by_user = Column(bool)
        self._length = Column(np.float32)  # of what is left of a vector; 0 for none
        self._sketch = Column(np.float32, _SKETCH)
        self._common: Floats = np.zeros(size, np.float32)
        self._manner: Floats = np.zeros(size, np.float32)
        self._axes: Floats = np.zeros((size, 0), np.float32)
        self._count = self._learned = 0

    def put(self, rows: Rows, vectors: Sequence[bytes], by_user: NDArray[np.bool_]) -> None:
        """One vector, of length 1, for each of these rows, and who spoke."""
        for column in (self._vectors, self._by_user, self._length, self._sketch):
            column.reach(int(rows.max()) + 1)
        self._vectors.values[rows] = np.frombuffer(b"".join(vectors), "<f2").reshape(len(rows), -1)
        self._by_user.values[rows] = by_user
        self._length.values[rows] = 1
        self._count += len(rows)
        if self._learned <= _FEW and self._count >= min(4 * self._learned, _FEW + 1):
            self._learn(rows := np.flatnonzero(self._length.values))
        self._draw(rows)

    def shortlist(self, vector: Floats, most: int) -> Rows:
        """The rows that are worth a closer look."""
        if self._count <= _FEW:
            return np.flatnonzero(self._length.values)
        return top_k(self._sketch.values @ (self._asked(vector) @ self._axes), most)

    def nearness(self, vector: Floats, rows: Rows) -> Floats:
        """A cosine for each of the rows."""
        near = np.zeros(len(rows), np.float32)
        there = rows < len(self._length)
        there[there] = self._length.values[rows[there]] > 0
        known = rows[there]
        asked = self._asked(vector)
        cosines = self._vectors.values[known].astype(np.float32) @ asked - self._common @ asked
        near[there] = cosines / self._length.values[known]
        return near

    def _asked(self, vector: Floats) -> Floats:
        """The direction to look in. What is taken out of it counts for nothing in what is met there."""
        own = vector - self._common
        plain = own - self._manner * (own @ self._manner)
        return np.asarray(plain / max(float(np.linalg.norm(plain)), 1e-6), np.float32)

    def _learn(self, rows: Rows) -> None:
        """Anew whenever there are four times as many; what thousands show, more would not change."""
        rows = rows[:: len(rows) // _FEW + 1]
        sample, by_user = self._vectors.values[rows].astype(np.float32), self._by_user.values[rows]
        self._learned = self._count
        self._common = sample.sum(axis=0) / (len(rows) + _DOUBT)
        if min(by_user.sum(), (~by_user).sum()) >= _DOUBT:
            apart = sample[by_user].mean(axis=0) - sample[~by_user].mean(axis=0)
            self._manner = apart / max(float(np.linalg.norm(apart)), 1e-6)
        if self._learned > _FEW:
            sample -= self._common
            self._axes = _main_axes(sample.T @ sample)

    def _draw(self, rows: Rows) -> None:
        """How long each is without what is taken out, and where it lies on the axes on which texts differ most."""
        directions = np.column_stack([self._common, self._manner, self._axes])
        for start in range(0, len(rows), _FEW):
            part = rows[start : start + _FEW]
            seen = self._vectors.values[part].astype(np.float32) @ directions - self._common @ directions
            squares = 1 - 2 * seen[:, 0] - self._common @ self._common - seen[:, 1] ** 2
            self._length.values[part] = lengths = np.sqrt(np.maximum(squares, 1e-6))
            if self._learned > _FEW:
                self._sketch.values[part] = seen[:, 2:] / lengths[:, None]


def _main_axes(spread: Floats) -> Floats:
    """About those along which a spread is widest; a few steps of multiplying cost a tenth of solving for them."""
    axes = spread[:, :_SKETCH]
    for _ in range(4):
        axes = spread @ np.linalg.qr(axes)[0]
    return np.asarray(np.linalg.qr(axes)[0], np.float32)
