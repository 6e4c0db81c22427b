"""A cache of the indexes searched last, each refreshed from the database before it is searched.

Every audience of a soul has an index of its own, with what all of it may know: what others have told is not compared,
not counted and not even read.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from typing import TypeVar

from soulgraph.memory.index import Candidates, SoulIndex
from soulgraph.memory.ranking import Floats, Weights
from soulgraph.soul.people import may_know
from soulgraph.stores.records import Episode
from soulgraph.stores.stores import Stores, Transaction

MAX_ROWS = 200_000
"""Messages kept in memory over all indexes, some 1.5 kB each."""

TIMEOUT_S = 0.3
"""How long a search waits for its index to be read. Then it searches what is there: the newest is read first."""

_CHUNK = 2000  # rows read in one statement, so that SQLite never holds the event loop for long
_OVERLAP = 32  # ids read again each time, because a message may be committed after one with a later id
_INLINE = 2000  # rows below which the work takes less time than the way to a thread and back
_ABOVE_ALL = 2**62

T = TypeVar("T")
Audience = frozenset[str] | None
"""The people who hear what is recalled; None for an owner, who may see everything."""
_Key = tuple[str, Audience]


class _CachedIndex:
    def __init__(self) -> None:
        self.index = SoulIndex()
        self.lock = asyncio.Lock()
        self.unread_below = _ABOVE_ALL
        """Messages with an id below this one are not read yet; 0 when all are."""
        self.refresh: asyncio.Task[None] | None = None

    async def run_locked(self, size: int, work: Callable[[], T]) -> T:
        """Run work on the index while nobody else does, in a thread if it concerns many rows."""
        async with self.lock:
            return work() if size < _INLINE else await asyncio.to_thread(work)


class IndexCache:
    def __init__(self, stores: Stores, model: str, weights: Weights) -> None:
        self._stores = stores
        self._model = model
        self._weights = weights
        self._cached: OrderedDict[_Key, _CachedIndex] = OrderedDict()

    async def search(
        self,
        soul_id: str,
        audience: Audience,
        terms: Sequence[int],
        vector: Floats | None,
        now: float,
        limit: int,
        exclude: Collection[int],
    ) -> Candidates:
        key = soul_id, audience
        cached = self._get(key)
        refresh = self._start_refresh(key, cached)
        # The refresh goes on after this caller's timeout: the next one finds more of it done.
        await asyncio.wait([refresh], timeout=TIMEOUT_S)
        if refresh.done():
            refresh.result()
        index = cached.index
        return await cached.run_locked(
            len(index), lambda: index.search(terms, vector, now, limit, exclude, self._weights)
        )

    def drop(self, soul_id: str) -> None:
        """Forget this soul's indexes, so that the next search reads them again: something was deleted or shared."""
        for key in [key for key in self._cached if key[0] == soul_id]:
            del self._cached[key]

    async def close(self) -> None:
        tasks = [cached.refresh for cached in self._cached.values() if cached.refresh]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _get(self, key: _Key) -> _CachedIndex:
        """The index, a new one if need be; those used least recently make room for it."""
        cached = self._cached.setdefault(key, _CachedIndex())
        self._cached.move_to_end(key)
        while len(self._cached) > 1 and sum(len(one.index) for one in self._cached.values()) > MAX_ROWS:
            self._cached.popitem(last=False)
        return cached

    def _start_refresh(self, key: _Key, cached: _CachedIndex) -> asyncio.Task[None]:
        """The refresh that is running, or a new one."""
        if cached.refresh is None or cached.refresh.done():
            cached.refresh = asyncio.create_task(self._refresh(key, cached), name="memory index")
        return cached.refresh

    async def _refresh(self, key: _Key, cached: _CachedIndex) -> None:
        async with self._stores.read() as tx:
            if cached.unread_below < _ABOVE_ALL:
                await self._read_new(tx, key, cached)
            while cached.unread_below:
                await self._read_old(tx, key, cached)
                await asyncio.sleep(0)

    async def _read_new(self, tx: Transaction, key: _Key, cached: _CachedIndex) -> None:
        """Add the messages that came after the last one read, and the vectors that were computed since."""
        index = cached.index
        soul_id, audience = key
        read = await tx.episodes.after(soul_id, audience, max(index.last_id - _OVERLAP, 0), self._model)
        episodes = _known(read, audience)
        await cached.run_locked(len(episodes), lambda: index.add(episodes))
        after = index.embedded_to
        while after < index.last_id:
            vectors = await tx.vectors.after(soul_id, self._model, after, _CHUNK)
            await cached.run_locked(len(vectors), lambda: index.add_vectors(vectors))  # noqa: B023
            after = vectors[-1][0] if len(vectors) == _CHUNK else index.last_id

    async def _read_old(self, tx: Transaction, key: _Key, cached: _CachedIndex) -> None:
        """Add the next chunk of older messages, newest first."""
        soul_id, audience = key
        read = await tx.episodes.before(soul_id, audience, cached.unread_below, _CHUNK, self._model)
        episodes = _known(read, audience)
        await cached.run_locked(len(cached.index) + len(episodes), lambda: cached.index.add(episodes))
        cached.unread_below = read[-1].message_id if len(read) == _CHUNK else 0


def _known(episodes: list[Episode], audience: Audience) -> list[Episode]:
    if audience is None:
        return episodes
    return [one for one in episodes if may_know(audience, one.user_id, one.shared_with)]
