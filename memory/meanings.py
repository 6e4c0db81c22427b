"""Which texts are near in meaning. What all texts have in common says nothing, so it is taken out of each vector."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.ranking import Floats

CONTEXT = 0.4
"""How much of the nearness of the message before it a message takes over."""

_FEW = 4096  # rows that are compared one by one; of more, a sketch says which are worth it
_SKETCH = 64
_SAMPLE = 4096
_DOUBT = 64  # texts it takes to know half of what texts have in common

Rows = NDArray[np.int64]


class Meanings:
    """Vectors by row, in half precision. Rows that have none yet are near to nothing."""

    def __init__(self, size: int) -> None:
        self._vectors = np.zeros((0, size), np.float16)
        self._there = np.zeros(0, bool)
        self._common: Floats = np.zeros(size, np.float32)
        self._axes: Floats = np.zeros((size, _SKETCH), np.float32)
        self._sketch: Floats = np.zeros((0, _SKETCH), np.float32)
        self._fitted = 0
        self._undrawn: list[Rows] = []

    def put(self, rows: Rows, vectors: Sequence[bytes]) -> None:
        """One vector, of length 1, for each of these rows."""
        self._grow(int(rows.max()) + 1)
        self._vectors[rows] = np.frombuffer(b"".join(vectors), "<f2").reshape(len(rows), -1)
        self._there[rows] = True
        self._undrawn.append(rows)

    def shortlist(self, vector: Floats, before: Rows, most: int) -> Rows:
        """The rows that are worth a closer look; `before` has the row before each row, or -1."""
        self._learn()
        known = np.flatnonzero(self._there[: len(before)])
        if len(before) <= _FEW or len(known) <= most:
            return known
        likeness = self._sketch[: len(before)] @ (self._asked(vector) @ self._axes)
        likeness[: len(before)] += CONTEXT * np.where(before >= 0, likeness[before], 0)
        return np.argpartition(-likeness, most)[:most]

    def nearness(self, vector: Floats, rows: Rows, before: Rows) -> Floats:
        """A cosine for each of the rows, with a part of that of the row before it."""
        asked = self._asked(vector)
        preceding = before[rows]
        context: Floats = np.where(preceding >= 0, self._cosines(asked, preceding), 0)
        return self._cosines(asked, rows) + CONTEXT * context

    def _cosines(self, asked: Floats, rows: Rows) -> Floats:
        self._grow(int(rows.max(initial=0)) + 1)
        cosines: Floats = _unit(self._vectors[rows] - self._common) @ asked
        cosines[~self._there[rows]] = 0
        return cosines

    def _asked(self, vector: Floats) -> Floats:
        asked: Floats = _unit((vector - self._common)[None])[0]
        return asked

    def _learn(self) -> None:
        """Learn anew what the texts have in common whenever there are twice as many, and sketch those that are new."""
        count = int(self._there.sum())
        if count >= 2 * self._fitted:
            self._fit(np.flatnonzero(self._there))
            self._undrawn, self._fitted = [np.flatnonzero(self._there)], count
        if count > _FEW:
            for rows in self._undrawn:
                self._draw(rows)
            self._undrawn = []

    def _fit(self, rows: Rows) -> None:
        sample = self._vectors[rows[:: len(rows) // _SAMPLE + 1]].astype(np.float32)
        self._common = sample.sum(axis=0) / (len(sample) + _DOUBT)
        if len(rows) > _FEW:
            centred = _unit(sample - self._common)
            self._axes = np.linalg.eigh(centred.T @ centred)[1][:, -_SKETCH:].astype(np.float32)

    def _draw(self, rows: Rows) -> None:
        """Along the axes on which texts differ most."""
        for start in range(0, len(rows), _FEW):
            part = rows[start : start + _FEW]
            self._sketch[part] = _unit(self._vectors[part] - self._common) @ self._axes

    def _grow(self, wanted: int) -> None:
        """Room for so many rows, and for as many again."""
        if wanted > len(self._there):
            more = 2 * wanted - len(self._there)
            self._vectors = np.pad(self._vectors, ((0, more), (0, 0)))
            self._sketch = np.pad(self._sketch, ((0, more), (0, 0)))
            self._there = np.pad(self._there, (0, more))


def _unit(vectors: Floats) -> Floats:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.maximum(lengths, 1e-6)[:, None])
