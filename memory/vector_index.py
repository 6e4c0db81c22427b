"""A vector index by cosine. Above a few thousand rows, a PCA sketch of each vector shortlists the rows to compare.

Embeddings of a conversation share a common direction, and those of the two speakers differ by another. Neither says
what a text is about, so the mean vector and the speaker axis are taken out of every vector.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from soulgraph.memory.growable_array import GrowableArray
from soulgraph.memory.ranking import Floats, top_k

_FEW = 1024  # rows up to which all of them are on the shortlist
_EXHAUSTIVE = 4096  # rows up to which every vector is compared with the query
_SKETCH_SIZE = 64  # principal axes in a sketch
_LARGEST_BYTE = 127
_PRIOR = 64  # the mean is shrunk as by this many zero vectors; each speaker needs this many texts for the axis

Rows = NDArray[np.int64]


class VectorIndex:
    """Vectors by row, a byte for each value. A row without a vector has length 0 and a cosine of 0 with everything.

    Bytes are made floats twenty times as fast as half precision is, and a search does so with thousands of vectors.
    """

    def __init__(self, size: int) -> None:
        self._vectors = GrowableArray(np.int8, size)
        self._scales = GrowableArray(np.float32)  # by which the bytes of a row are to be multiplied
        self._by_user = GrowableArray(bool)
        self._lengths = GrowableArray(np.float32)  # of the vectors after centring
        self._sketches = GrowableArray(np.float32, _SKETCH_SIZE)
        self._mean_vector: Floats = np.zeros(size, np.float32)
        self._speaker_axis: Floats = np.zeros(size, np.float32)
        self._principal_axes: Floats = np.zeros((size, 0), np.float32)
        self._count = self._fitted_count = 0

    def put(self, rows: Rows, vectors: Sequence[bytes], by_user: NDArray[np.bool_]) -> None:
        """Store one unit vector for each of these rows, and whether the user said it."""
        for array in (self._vectors, self._scales, self._by_user, self._lengths):
            array.grow_to(int(rows.max()) + 1)
        floats = np.frombuffer(b"".join(vectors), "<f2").reshape(len(rows), -1).astype(np.float32)
        scales = np.maximum(np.abs(floats).max(axis=1), 1e-6) / _LARGEST_BYTE
        self._vectors.values[rows] = np.rint(floats / scales[:, None])
        self._scales.values[rows] = scales
        self._by_user.values[rows] = by_user
        self._lengths.values[rows] = 1
        self._count += len(rows)
        # Fitted anew whenever there are four times as many vectors, and a last time above _EXHAUSTIVE.
        if self._fitted_count <= _EXHAUSTIVE and self._count >= min(4 * self._fitted_count, _EXHAUSTIVE + 1):
            rows = np.flatnonzero(self._lengths.values)
            self._fit(rows)
        self._update_sketches(rows)

    def shortlist(self, vector: Floats, k: int) -> Rows:
        """The rows to compare: all while they are few, then the nearest, and of many the k nearest by sketch."""
        if self._count > _EXHAUSTIVE:
            return top_k(_products(self._sketches.values, self._centred(vector) @ self._principal_axes), k)
        rows = np.flatnonzero(self._lengths.values)
        return rows if len(rows) <= _FEW else rows[top_k(self.cosines(vector, rows), _FEW // 4)]

    def cosines(self, vector: Floats, rows: Rows) -> Floats:
        """The cosine of the query with each of the rows; 0 for rows without a vector."""
        cosines = np.zeros(len(rows), np.float32)
        present = rows < len(self._lengths)
        present[present] = self._lengths.values[rows[present]] > 0
        known = rows[present]
        query = self._centred(vector)
        # The query has no component along the speaker axis, so only the mean is left to subtract from the products.
        products = _products(self._vectors.values[known].astype(np.float32), query) * self._scales.values[known]
        products -= self._mean_vector @ query
        cosines[present] = products / self._lengths.values[known]
        return cosines

    def _centred(self, vector: Floats) -> Floats:
        """The query without the mean vector and the speaker axis, as a unit vector."""
        centred = vector - self._mean_vector
        centred = centred - self._speaker_axis * (centred @ self._speaker_axis)
        return np.asarray(centred / max(float(np.linalg.norm(centred)), 1e-6), np.float32)

    def _fit(self, rows: Rows) -> None:
        """Estimate the mean vector, the speaker axis and the principal axes from a sample of these rows."""
        rows = rows[:: len(rows) // _EXHAUSTIVE + 1]
        sample = self._floats(rows)
        by_user = self._by_user.values[rows]
        self._fitted_count = self._count
        self._mean_vector = sample.sum(axis=0) / (len(rows) + _PRIOR)
        if min(by_user.sum(), (~by_user).sum()) >= _PRIOR:
            difference = sample[by_user].mean(axis=0) - sample[~by_user].mean(axis=0)
            self._speaker_axis = difference / max(float(np.linalg.norm(difference)), 1e-6)
        if self._fitted_count > _EXHAUSTIVE:
            sample -= self._mean_vector
            self._principal_axes = _principal_axes(sample.T @ sample)

    def _update_sketches(self, rows: Rows) -> None:
        """Compute the centred length of each row, and its sketch once there are principal axes."""
        sketched = self._fitted_count > _EXHAUSTIVE
        if sketched:
            self._sketches.grow_to(len(self._lengths))
        axes = np.column_stack([self._mean_vector, self._speaker_axis, self._principal_axes])
        for start in range(0, len(rows), _EXHAUSTIVE):
            part = rows[start : start + _EXHAUSTIVE]
            projected = self._floats(part) @ axes - self._mean_vector @ axes
            # |v - m|² minus the square along the speaker axis, for |v| = 1 and v·m = projected[:, 0] + |m|².
            squares = 1 - 2 * projected[:, 0] - self._mean_vector @ self._mean_vector - projected[:, 1] ** 2
            lengths = np.sqrt(np.maximum(squares, 1e-6))
            self._lengths.values[part] = lengths
            if sketched:
                self._sketches.values[part] = projected[:, 2:] / lengths[:, None]

    def _floats(self, rows: Rows) -> Floats:
        floats: Floats = self._vectors.values[rows].astype(np.float32) * self._scales.values[rows, None]
        return floats


def _products(vectors: Floats, query: Floats) -> Floats:
    """The dot product of each vector with the query. `@` would set all cores to it, which then wait for each other."""
    products: Floats = np.vecdot(vectors, query)
    return products


def _principal_axes(covariance: Floats) -> Floats:
    """The leading eigenvectors, approximately: four power iterations cost a tenth of an exact solution."""
    axes = covariance[:, :_SKETCH_SIZE]
    for _ in range(4):
        axes = covariance @ np.linalg.qr(axes)[0]
    return np.asarray(np.linalg.qr(axes)[0], np.float32)
