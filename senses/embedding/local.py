"""The built-in multilingual sentence encoder, which needs no key and no download."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache

from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from soulgraph.compat import encoder_table, encoder_tokenizer, encoder_weights
from soulgraph.senses.embedding.batching import BatchingEmbedder
from soulgraph.senses.embedding.network import Network
from soulgraph.senses.embedding.prepared import prepared_encoder
from soulgraph.senses.ports import Vectors
from soulgraph.soul.short_texts import remembers_short

NAME = "use-multilingual-v3"
_REMEMBERED = 256
"""Texts whose tokens are asked for again when they are counted: to find them takes a third of an encoding."""


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
    tokens, network = _model()
    return network.encode([tokens(text) for text in texts])


def count_tokens(texts: Sequence[str]) -> list[int]:
    """How many tokens each text has, with those for its beginning and its end."""
    tokens, _ = _model()
    return [len(tokens(text)) for text in texts]


@cache
def _model() -> tuple[Callable[[str], list[int]], Network]:
    """The tokenizer and the network, with one BLAS thread for this process: several are many times slower on busy
    cores."""
    threadpool_limits(limits=1, user_api="blas")
    model = prepared_encoder()
    network = Network(encoder_weights(model), encoder_table(model))
    return remembers_short(_REMEMBERED)(encoder_tokenizer(model)), network
