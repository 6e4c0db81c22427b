"""The indexes of the souls that were asked last, each brought up to date before it is searched."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import TypeVar

from soulgraph.memory.index import Found, SoulIndex
from soulgraph.memory.ranking import Floats, Weights
from soulgraph.stores.stores import Stores, Transaction

MOST_ROWS = 200_000
"""Messages that are kept in memory, some 1.5 kB each."""

_CHUNK = 500  # rows read in one statement, so that SQLite never holds the event loop for long
_OVERLAP = 32  # ids that may have been committed after a later one was read
_INLINE = 2000  # rows whose search takes less time than the way to a thread and back

T = TypeVar("T")


class _Shelved:
    def __init__(self) -> None:
        self.index = SoulIndex()
        self.lock = asyncio.Lock()
        self.refresh: asyncio.Task[None] | None = None


class Shelf:
    def __init__(self, stores: Stores, model: str, weights: Weights) -> None:
        self._stores = stores
        self._model = model
        self._weights = weights
        self._shelved: OrderedDict[str, _Shelved] = OrderedDict()

    async def search(
        self, soul_id: str, text: str, vector: Floats | None, now: float, most: int, exclude: Collection[int]
    ) -> Found:
        shelved = self._take(soul_id)
        # Loading goes on if this caller gives up: the next one finds more of it done.
        await asyncio.shield(self._refreshed(soul_id, shelved))
        async with shelved.lock:
            index = shelved.index
            return await _run(len(index), lambda: index.search(text, vector, now, most, exclude, self._weights))

    def drop(self, soul_id: str) -> None:
        """Read this soul anew next time: something of it was deleted."""
        self._shelved.pop(soul_id, None)

    async def close(self) -> None:
        tasks = [shelved.refresh for shelved in self._shelved.values() if shelved.refresh]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _take(self, soul_id: str) -> _Shelved:
        shelved = self._shelved.setdefault(soul_id, _Shelved())
        self._shelved.move_to_end(soul_id)
        while len(self._shelved) > 1 and sum(len(one.index) for one in self._shelved.values()) > MOST_ROWS:
            self._shelved.popitem(last=False)
        return shelved

    def _refreshed(self, soul_id: str, shelved: _Shelved) -> asyncio.Task[None]:
        if shelved.refresh is None or shelved.refresh.done():
            shelved.refresh = asyncio.create_task(self._refresh(soul_id, shelved), name="memory index")
        return shelved.refresh

    async def _refresh(self, soul_id: str, shelved: _Shelved) -> None:
        async with shelved.lock, self._stores.read() as tx:
            await self._read_episodes(tx, soul_id, shelved.index)
            await self._read_vectors(tx, soul_id, shelved.index)

    async def _read_episodes(self, tx: Transaction, soul_id: str, index: SoulIndex) -> None:
        after, more = max(index.last_id - _OVERLAP, 0), True
        while more:
            episodes = await tx.episodes.after(soul_id, after, _CHUNK)
            await _run(len(episodes), lambda: index.add(episodes))  # noqa: B023
            more = len(episodes) == _CHUNK
            after = episodes[-1].message_id if more else after
            await asyncio.sleep(0)

    async def _read_vectors(self, tx: Transaction, soul_id: str, index: SoulIndex) -> None:
        after, more = index.embedded_to, True
        while more:
            vectors = await tx.vectors.after(soul_id, self._model, after, _CHUNK)
            await _run(len(vectors), lambda: index.embed(vectors))  # noqa: B023
            more = len(vectors) == _CHUNK
            after = vectors[-1][0] if more else after
            await asyncio.sleep(0)


async def _run(size: int, work: Callable[[], T]) -> T:
    return work() if size < _INLINE else await asyncio.to_thread(work)
