"""Opens Recall for a server, with a background task that computes the vectors of new messages."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from soulgraph.errors import SenseUnavailable, StoreUnavailable
from soulgraph.memory.recall import Recall
from soulgraph.memory.source import Source
from soulgraph.senses.ports import Embedder
from soulgraph.stores.stores import Stores

POLL_S, RETRY_S = 2.0, 30.0

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_recall(
    stores: Stores, embedder: Embedder, clock: Callable[[], float], *sources: Source
) -> AsyncIterator[Recall]:
    recall = Recall(stores, embedder, clock, sources)
    indexing = asyncio.create_task(_index(recall), name="indexing")
    try:
        yield recall
    finally:
        indexing.cancel()
        with suppress(asyncio.CancelledError):
            await indexing
        await recall.close()


async def _index(recall: Recall) -> None:
    """Compute missing vectors forever. Terms are indexed with the message itself; vectors follow outside the turn."""
    while True:
        try:
            more = await recall.index()
            await asyncio.sleep(0 if more else POLL_S)
        except (StoreUnavailable, SenseUnavailable) as error:
            _log.warning("meanings are not indexed for now: %s", error.detail)
            await asyncio.sleep(RETRY_S)
