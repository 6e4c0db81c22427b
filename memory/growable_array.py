"""Arrays that grow at their end, a little at a time, without being copied each time."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class Column:
    """Values by row, or rows of values. Room is doubled when it runs out; what nobody has set is zero."""

    def __init__(self, dtype: DTypeLike, *shape: int) -> None:
        self._room: NDArray[Any] = np.zeros((64, *shape), dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        return self._room[: self._size]

    def extend(self, values: Any) -> None:
        start = len(self)
        self.reach(start + len(values))
        self._room[start : self._size] = values

    def reach(self, size: int) -> None:
        """At least so many rows."""
        if size > len(self._room):
            room = np.zeros((max(size, 2 * len(self._room)), *self._room.shape[1:]), self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        self._size = max(self._size, size)
