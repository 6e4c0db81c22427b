"""The encoder of an OpenAI-compatible embeddings endpoint."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import numpy as np
from openai import AsyncOpenAI, OpenAIError

from soulgraph.errors import ConfigurationError, SenseUnavailable
from soulgraph.senses.embedding.batching import BatchingEmbedder
from soulgraph.senses.endpoint import Endpoint
from soulgraph.senses.ports import Vectors


class RemoteEncoder:
    def __init__(self, client: AsyncOpenAI, model: str) -> None:
        self._client = client
        self._model = model

    @property
    def name(self) -> str:
        return self._model

    async def encode(self, texts: list[str]) -> Vectors:
        # Some servers refuse an empty text; a blank one means the same.
        inputs = [text or " " for text in texts]
        try:
            answer = await self._client.embeddings.create(model=self._model, input=inputs, encoding_format="float")
            return _vectors([item.embedding for item in answer.data], len(texts))
        except (OpenAIError, ValueError, TypeError, AttributeError) as error:
            raise SenseUnavailable(f"the embeddings endpoint failed: {error}") from error


@asynccontextmanager
async def open_remote_embedder(endpoint: Endpoint) -> AsyncIterator[BatchingEmbedder]:
    """The embedder of an endpoint; raises ConfigurationError when a first request fails."""
    async with httpx2.AsyncClient(timeout=endpoint.timeout_s) as http:
        client = AsyncOpenAI(
            base_url=endpoint.base_url or None, api_key=endpoint.api_key or "none", http_client=http, max_retries=1
        )
        encoder = RemoteEncoder(client, endpoint.model)
        try:
            await encoder.encode(["你好"])
        except SenseUnavailable as error:
            raise ConfigurationError("SOULGRAPH_EMBEDDINGS_BASE_URL", f"{endpoint.place}: {error.detail}") from error
        async with BatchingEmbedder.open(encoder) as embedder:
            yield embedder


def _vectors(rows: list[list[float]], expected: int) -> Vectors:
    """The rows scaled to length 1; raises SenseUnavailable unless there are `expected` usable ones."""
    vectors = np.array(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True) if vectors.ndim == 2 else np.zeros(1)
    if len(vectors) != expected or not (np.isfinite(lengths).all() and lengths.all()):
        raise SenseUnavailable(f"the embeddings endpoint did not answer {expected} texts with {expected} vectors")
    return np.asarray(vectors / lengths, dtype=np.float32)
