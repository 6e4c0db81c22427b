"""An embedder for tests: texts that share words have similar vectors; with `away` set it fails."""

from collections.abc import Sequence

import numpy as np

from soulgraph.errors import SenseUnavailable
from soulgraph.senses.ports import Vectors
from soulgraph.senses.tokenizer import fingerprint, terms_of

SIZE = 64


class WordVectors:
    def __init__(self, name: str = "words-as-vectors") -> None:
        self.name = name
        self.away = False

    def expect(self, texts: Sequence[str]) -> None:
        """Nothing is batched."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if self.away:
            raise SenseUnavailable("the embeddings endpoint failed")
        return np.array([_vector(text) for text in texts], np.float32).reshape(len(texts), SIZE)


def _vector(text: str) -> Vectors:
    words = [np.random.default_rng(fingerprint(term)).normal(size=SIZE) for term in terms_of(text)]
    vector = np.sum(words, axis=0) if words else np.ones(SIZE)
    return (vector / np.linalg.norm(vector)).astype(np.float32)
