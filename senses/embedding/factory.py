"""Opens the embedder that the settings ask for."""

from contextlib import AbstractAsyncContextManager

from soulgraph.senses.embedding.batching import BatchingEmbedder
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.endpoint import Endpoint


def open_embedder(endpoint: Endpoint | None) -> AbstractAsyncContextManager[BatchingEmbedder]:
    """The embedder of an endpoint, or the built-in one for None."""
    if endpoint is None:
        return open_local_embedder()
    from soulgraph.senses.embedding.remote import open_remote_embedder  # OpenAI's client takes a second to import

    return open_remote_embedder(endpoint)
