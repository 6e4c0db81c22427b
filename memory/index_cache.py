"""The indexes of the souls that were asked last, each brought up to date before it is searched."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from soulgraph.memory.index import Found, SoulIndex
from soulgraph.memory.ranking import Floats, Weights
from soulgraph.stores.stores import Stores, Transaction

MAX_ROWS = 200_000
"""Messages that are kept in memory, some 1.5 kB each."""

TIMEOUT_S = 0.3
"""How long a search waits for its index. What is read by then is searched: the newest comes first."""

_CHUNK = 2000  # rows read in one statement, so that SQLite never holds the event loop for long
_OVERLAP = 32  # ids that may have been committed after a later one was read
_INLINE = 2000  # rows whose search takes less time than the way to a thread and back
_ABOVE_ALL = 2**62

T = TypeVar("T")


class _CachedIndex:
    def __init__(self) -> None:
        self.index = SoulIndex()
        self.lock = asyncio.Lock()
        self.unread_below = _ABOVE_ALL
        self.refresh: asyncio.Task[None] | None = None

    async def change(self, size: int, work: Callable[[], T]) -> T:
        """Work on the index, alone; much of it on a thread."""
        async with self.lock:
            return work() if size < _INLINE else await asyncio.to_thread(work)


class IndexCache:
    def __init__(self, stores: Stores, model: str, weights: Weights) -> None:
        self._stores = stores
        self._model = model
        self._weights = weights
        self._shelved: OrderedDict[str, _CachedIndex] = OrderedDict()

    async def search(
        self, soul_id: str, asked: Sequence[int], vector: Floats | None, now: float, most: int, exclude: Collection[int]
    ) -> Found:
        shelved = self._take(soul_id)
        refresh = self._refreshed(soul_id, shelved)
        # Reading goes on if this caller has waited enough: the next one finds more of it done.
        await asyncio.wait([refresh], timeout=TIMEOUT_S)
        if refresh.done():
            refresh.result()
        index = shelved.index
        return await shelved.change(len(index), lambda: index.search(asked, vector, now, most, exclude, self._weights))

    def drop(self, soul_id: str) -> None:
        """Read this soul anew next time: something of it was deleted."""
        self._shelved.pop(soul_id, None)

    async def close(self) -> None:
        tasks = [shelved.refresh for shelved in self._shelved.values() if shelved.refresh]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _take(self, soul_id: str) -> _CachedIndex:
        shelved = self._shelved.setdefault(soul_id, _CachedIndex())
        self._shelved.move_to_end(soul_id)
        while len(self._shelved) > 1 and sum(len(one.index) for one in self._shelved.values()) > MAX_ROWS:
            self._shelved.popitem(last=False)
        return shelved

    def _refreshed(self, soul_id: str, shelved: _CachedIndex) -> asyncio.Task[None]:
        if shelved.refresh is None or shelved.refresh.done():
            shelved.refresh = asyncio.create_task(self._refresh(soul_id, shelved), name="memory index")
        return shelved.refresh

    async def _refresh(self, soul_id: str, shelved: _CachedIndex) -> None:
        async with self._stores.read() as tx:
            if shelved.unread_below < _ABOVE_ALL:
                await self._read_new(tx, soul_id, shelved)
            while shelved.unread_below:
                await self._read_old(tx, soul_id, shelved)
                await asyncio.sleep(0)

    async def _read_new(self, tx: Transaction, soul_id: str, shelved: _CachedIndex) -> None:
        index = shelved.index
        episodes = await tx.episodes.after(soul_id, max(index.last_id - _OVERLAP, 0), self._model)
        await shelved.change(len(episodes), lambda: index.add(episodes))
        after = index.embedded_to
        while after < index.last_id:
            vectors = await tx.vectors.after(soul_id, self._model, after, _CHUNK)
            await shelved.change(len(vectors), lambda: index.embed(vectors))  # noqa: B023
            after = vectors[-1][0] if len(vectors) == _CHUNK else index.last_id

    async def _read_old(self, tx: Transaction, soul_id: str, shelved: _CachedIndex) -> None:
        episodes = await tx.episodes.before(soul_id, shelved.unread_below, _CHUNK, self._model)
        await shelved.change(len(shelved.index) + len(episodes), lambda: shelved.index.add(episodes))
        shelved.unread_below = episodes[-1].message_id if len(episodes) == _CHUNK else 0
