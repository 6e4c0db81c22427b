"""Which embedder: the configured endpoint, or the built-in one."""

from contextlib import AbstractAsyncContextManager

from soulgraph.senses.embedding.batching import BatchingEmbedder
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.embedding.remote import open_remote_embedder
from soulgraph.settings import Settings


def open_embedder(settings: Settings) -> AbstractAsyncContextManager[BatchingEmbedder]:
    settings.check_endpoint("embeddings")
    return open_remote_embedder(settings) if settings.embeddings_model else open_local_embedder()
