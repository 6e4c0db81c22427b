"""Which embedder: the configured endpoint, or the built-in one."""

from contextlib import AbstractAsyncContextManager

from soulgraph.senses.embedding.batching import BatchingEmbedder
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.settings import Settings


def open_embedder(settings: Settings) -> AbstractAsyncContextManager[BatchingEmbedder]:
    settings.check_endpoint("embeddings")
    if not settings.embeddings_model:
        return open_local_embedder()
    from soulgraph.senses.embedding.remote import open_remote_embedder  # OpenAI's client takes a second to import

    return open_remote_embedder(settings)
