"""One embedding per text: what is asked for twice is made once, and what is asked for together is made together."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Protocol, Self

import numpy as np

from soulgraph.senses.ports import Vectors
from soulgraph.senses.text import heard

# As fast a text as larger ones, and while one batch is encoded, those who waited for the last go on.
MAX_BATCH = 16
REMEMBERED = 2048

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
        self._known: OrderedDict[str, _Vector] = OrderedDict()
        self._waiting: list[str] = []
        self._work: asyncio.Task[None] | None = None

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
        wanted = [self._vector(heard(text)) for text in texts]
        return np.array([await _made(vector) for vector in wanted], dtype=np.float32)

    def expect(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._vector(heard(text))

    def _vector(self, text: str) -> _Vector:
        vector = self._known.get(text)
        if vector is None:
            vector = self._known[text] = asyncio.get_running_loop().create_future()
            self._ask(text)
            self._forget()
        self._known.move_to_end(text)
        return vector

    def _ask(self, text: str) -> None:
        self._waiting.append(text)
        if self._work is None or self._work.done():
            self._work = asyncio.create_task(self._encode_all(), name="embedding")

    def _forget(self) -> None:
        """The least used go first, but never one that is still being made."""
        if len(self._known) > REMEMBERED and next(iter(self._known.values())).done():
            self._known.popitem(last=False)

    async def _encode_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            promised = [self._known[text] for text in batch]
            try:
                vectors = await self._encoder.encode(batch)
            except Exception as error:  # noqa: BLE001 - raised again in everyone who waits
                self._fail(batch, error)
                continue
            for vector, made in zip(promised, vectors, strict=True):
                vector.set_result(made)

    def _fail(self, batch: list[str], error: Exception) -> None:
        """A failure is told to those who wait and not remembered: the next one who asks tries again."""
        for text in batch:
            vector = self._known.pop(text)
            vector.set_exception(error)
            vector.exception()  # its last waiter may be gone: that is nobody's mistake

    async def _close(self) -> None:
        if self._work:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work


async def _made(vector: _Vector) -> Vectors:
    # A caller that gives up must not take the vector away from the others who wait for it.
    return vector.result() if vector.done() else await asyncio.shield(vector)
