"""A cache of the indexes searched last, each refreshed from the database before it is searched.

Every audience of a soul has an index of its own, with what all of it may know: what others have told is not compared,
not counted and not even read.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

from soulgraph.memory.index import Candidates, SoulIndex
from soulgraph.memory.source import Audience, Query
from soulgraph.memory.spreading import RANKING, Ranking
from soulgraph.senses.question import Question
from soulgraph.soul.people import may_know
from soulgraph.stores.records import Episode
from soulgraph.stores.stores import Stores, Transaction

MAX_ROWS = 200_000
"""Messages kept in memory over all indexes, some 1 to 2 kB each."""

MIN_ROWS = 64
"""An index counts as so many messages at least: however few they are, it takes as much memory."""

TIMEOUT_S = 0.3
"""How long a search waits for its index to be read. Then it searches what is there: the newest is read first."""

_CHUNK = 2000  # rows read in one statement, so that SQLite never holds the event loop for long
_OVERLAP = 32  # ids read again each time, because a message may be committed after one with a later id
_INLINE = 2000  # rows below which the work takes less time than the way to a thread and back
_ABOVE_ALL = 2**62

T = TypeVar("T")
_Key = tuple[str, Audience]


class _CachedIndex:
    def __init__(self) -> None:
        self.index = SoulIndex()
        self.lock = asyncio.Lock()
        self.unread_below = _ABOVE_ALL
        """Messages with an id below this one are not read yet; 0 when all are."""
        self.refresh: asyncio.Task[None] | None = None
        self.counted = 0
        """The rows with which it counts in the cache."""

    async def run_locked(self, size: int, work: Callable[[], T]) -> T:
        """Run work on the index while nobody else does, in a thread if it concerns many rows."""
        async with self.lock:
            return work() if size < _INLINE else await asyncio.to_thread(work)


class IndexCache:
    def __init__(self, stores: Stores, model: str, ranking: Ranking = RANKING) -> None:
        self._stores = stores
        self._model = model
        self._ranking = ranking
        self._cached: OrderedDict[_Key, _CachedIndex] = OrderedDict()
        self._rows = 0

    async def search(self, query: Query, question: Question, limit: int) -> Candidates:
        key = query.soul_id, query.audience
        cached = self._get(key)
        refresh = self._start_refresh(key, cached)
        # The refresh goes on after this caller's timeout: the next one finds more of it done.
        await asyncio.wait([refresh], timeout=TIMEOUT_S)
        if refresh.done():
            refresh.result()
        self._make_room(key)
        index = cached.index
        return await cached.run_locked(len(index), lambda: index.search(query, question, limit, self._ranking))

    def drop(self, soul_id: str) -> None:
        """Forget this soul's indexes, so that the next search reads them again: something was deleted or shared."""
        for key in [key for key in self._cached if key[0] == soul_id]:
            self._rows -= self._cached.pop(key).counted

    async def close(self) -> None:
        tasks = [cached.refresh for cached in self._cached.values() if cached.refresh]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _get(self, key: _Key) -> _CachedIndex:
        if key not in self._cached:
            self._cached[key] = _CachedIndex()
        self._cached.move_to_end(key)
        return self._cached[key]

    def _make_room(self, key: _Key) -> None:
        """Count the index as large as it is by now; those used least recently make room for it."""
        if cached := self._cached.get(key):
            counted = max(len(cached.index), MIN_ROWS)
            self._rows += counted - cached.counted
            cached.counted = counted
        while len(self._cached) > 1 and self._rows > MAX_ROWS:
            _, dropped = self._cached.popitem(last=False)
            self._rows -= dropped.counted

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
        read_after = max(index.last_id - _OVERLAP, 0)
        read = await tx.episodes.after(soul_id, audience, read_after, self._model)
        episodes = _known(read, audience)
        await cached.run_locked(len(episodes), lambda: index.add(episodes))
        after = index.embedded_to
        while after < read_after:  # those above came with their messages
            vectors = await tx.vectors.after(soul_id, self._model, after, _CHUNK)
            await cached.run_locked(len(vectors), lambda: index.add_vectors(vectors))  # noqa: B023
            after = vectors[-1][0] if len(vectors) == _CHUNK else read_after

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
