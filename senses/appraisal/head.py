"""The trained head of the appraisal: from the embedding and the words of a text to what it is to the soul."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from numpy.typing import NDArray

from soulgraph.errors import ConfigurationError
from soulgraph.senses.appraisal.features import LAYOUT
from soulgraph.senses.arrays import EMBEDDING, Floats, restored

FILE = "head.npz"
# Scaled so that the embedding, of length 1 in 512 dimensions, does not drown in the words.
VECTOR_SCALE, WORD_SCALE = 16.0, 3.0
CLASSES = ("about others", "about it", "hostile", "repairing", "both")
SIGNATURE = ",".join((*CLASSES, *LAYOUT, str(EMBEDDING)))


@dataclass(frozen=True)
class Head:
    """The arrays of the data file: a hidden layer and a skip connection, softmax over `CLASSES`."""

    inner: Floats
    inner_bias: Floats
    outer: Floats
    direct: Floats
    bias: Floats

    def judge(self, vector: Floats, words: Floats) -> tuple[float, float, float]:
        """The probabilities that a text speaks to the soul, attacks it, and makes good with it."""
        inputs = inputs_of(vector, words)
        hidden = np.maximum(inputs @ self.inner + self.inner_bias, 0)
        logits = hidden @ self.outer + inputs @ self.direct + self.bias
        raised = np.exp(logits - logits.max())
        others, _, hostile, repairing, both = (raised / raised.sum()).tolist()
        return 1 - others, hostile + both, repairing + both


def inputs_of(vectors: Floats, words: Floats) -> Floats:
    inputs: Floats = np.concatenate([vectors * VECTOR_SCALE, words * WORD_SCALE], axis=-1, dtype=np.float32)
    return inputs


def head_from(arrays: Mapping[str, NDArray[np.generic]]) -> Head:
    """The head of a data file; raises ConfigurationError for one made for other features."""
    signature = str(arrays["signature"]) if "signature" in arrays else ""
    names = [field.name for field in fields(Head)]
    if signature != SIGNATURE or any(name not in arrays for name in names):
        raise ConfigurationError(FILE, "was trained for other features; train it anew")
    return Head(**{name: restored(name, arrays) for name in names})


@cache
def head() -> Head:
    with as_file(files(__package__) / FILE) as path, np.load(path) as arrays:
        return head_from(arrays)
