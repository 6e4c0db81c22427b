"""A numpy array that grows at its end without being copied on every append."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class GrowableArray:
    """Rows of one dtype and shape. The capacity grows by half when it runs out; rows that were never set are zero."""

    def __init__(self, dtype: DTypeLike, *shape: int) -> None:
        self._buffer: NDArray[Any] = np.zeros((64, *shape), dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """A view of the rows in use. It goes stale when the array grows, so do not keep it."""
        return self._buffer[: self._size]

    def extend(self, values: Any) -> None:
        start = len(self)
        self.grow_to(start + len(values))
        self._buffer[start : self._size] = values

    def grow_to(self, size: int) -> None:
        """Make the array at least this many rows long. It never shrinks."""
        if size > len(self._buffer):
            buffer = np.zeros((max(size, len(self._buffer) * 3 // 2), *self._buffer.shape[1:]), self._buffer.dtype)
            buffer[: self._size] = self.values
            self._buffer = buffer
        self._size = max(self._size, size)
