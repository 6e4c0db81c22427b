"""An embedder that caches vectors and encodes texts in batches."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Protocol, Self

import numpy as np

from soulgraph.senses.ports import Vectors
from soulgraph.senses.text import clean_utterance

# Larger batches take no less time per text, and callers of a small one get their vectors earlier.
MAX_BATCH = 16
MAX_CACHED = 512

_Vector = asyncio.Future[Vectors]


class Encoder(Protocol):
    """A model that turns texts into vectors, one batch at a time."""

    @property
    def name(self) -> str: ...

    async def encode(self, texts: list[str]) -> Vectors: ...


class BatchingEmbedder:
    """Texts that arrive while the encoder is busy wait and go into its next batch."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._cache: OrderedDict[str, _Vector] = OrderedDict()
        self._queue: list[str] = []
        self._worker: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def open(cls, encoder: Encoder) -> AsyncIterator[Self]:
        embedder = cls(encoder)
        try:
            yield embedder
        finally:
            await embedder._close()

    @property
    def name(self) -> str:
        return self._encoder.name

    async def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = [self._vector(clean_utterance(text)) for text in texts]
        return np.array([await _await_vector(vector) for vector in vectors], dtype=np.float32)

    def expect(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._vector(clean_utterance(text))

    def _vector(self, text: str) -> _Vector:
        """The future of a text's vector, from the cache or queued for encoding."""
        vector = self._cache.get(text)
        if vector is None:
            vector = self._cache[text] = asyncio.get_running_loop().create_future()
            self._enqueue(text)
            self._evict()
        self._cache.move_to_end(text)
        return vector

    def _enqueue(self, text: str) -> None:
        self._queue.append(text)
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._encode_all(), name="embedding")

    def _evict(self) -> None:
        """Drops the least recently used vectors, unless they are still being encoded."""
        while len(self._cache) > MAX_CACHED and next(iter(self._cache.values())).done():
            self._cache.popitem(last=False)

    async def _encode_all(self) -> None:
        while self._queue:
            batch, self._queue = self._queue[:MAX_BATCH], self._queue[MAX_BATCH:]
            futures = [self._cache[text] for text in batch]
            try:
                vectors = await self._encoder.encode(batch)
            except Exception as error:  # noqa: BLE001 - raised again in every waiting caller
                self._fail(batch, error)
                continue
            for future, vector in zip(futures, vectors, strict=True):
                future.set_result(vector)

    def _fail(self, batch: list[str], error: Exception) -> None:
        """Raises the error in all waiting callers and caches nothing, so that the next call tries again."""
        for text in batch:
            vector = self._cache.pop(text)
            vector.set_exception(error)
            vector.exception()  # marks it as retrieved: its last caller may be gone

    async def _close(self) -> None:
        if self._worker:
            self._worker.cancel()
            with suppress(asyncio.CancelledError):
                await self._worker


async def _await_vector(vector: _Vector) -> Vectors:
    # A caller that is cancelled must not cancel the vector for the others who wait for it.
    return vector.result() if vector.done() else await asyncio.shield(vector)
