"""Arrays of trained data files."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

EMBEDDING = 512
"""The length of the built-in encoder's vectors, on which all heads are trained."""


def restored(name: str, arrays: Mapping[str, NDArray[np.generic]]) -> Floats:
    """An array in single precision; one quantised to small integers is multiplied by its step."""
    values = arrays[name].astype(np.float32)
    step = f"{name}_step"
    return values * arrays[step].astype(np.float32) if step in arrays else values
