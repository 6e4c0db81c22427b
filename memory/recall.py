"""Recall: search over all sources of memory at once, within a time budget.

Only what the whole audience may know is found; without an audience, as for an owner, everything.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from soulgraph.errors import SenseUnavailable, StoreUnavailable
from soulgraph.memory.episodes import Episodes, RecalledEpisode
from soulgraph.memory.indexing import Indexing
from soulgraph.memory.ranking import Floats
from soulgraph.memory.source import Audience, Hit, Query, Source
from soulgraph.memory.spreading import RANKING, Ranking
from soulgraph.senses.ports import Embedder
from soulgraph.senses.tokenizer import query_terms, terms_of
from soulgraph.stores.stores import Stores

BUDGET_S = 1.5
_MIN_SHARED_TERMS = 2  # terms that a reply shares with a memory it draws on
_MAX_UNCOUNTED = 1000  # recalls that may wait to be counted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found, the best of each source first.

    `problem` names the sources that failed or were too slow; empty when all answered.
    """

    hits: Sequence[Hit] = ()
    problem: str = ""

    def of(self, kind: type[T]) -> list[T]:
        """The hits of one kind, such as `RecalledEpisode`."""
        return [hit for hit in self.hits if isinstance(hit, kind)]

    @property
    def doubtful(self) -> bool:
        """Whether nothing but episodes was found, and those are probably not about whom the question names."""
        return bool(self.hits) and all(isinstance(hit, RecalledEpisode) and hit.doubtful for hit in self.hits)

    @property
    def episodes(self) -> list[RecalledEpisode]:
        return self.of(RecalledEpisode)


@dataclass(frozen=True, slots=True)
class _Uses:
    """What one recall has found, by the kind of the source."""

    at: float
    ids: dict[str, list[str]]


class Recall:
    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        clock: Callable[[], float],
        sources: Sequence[Source] = (),
        budget_s: float = BUDGET_S,
        ranking: Ranking = RANKING,
    ) -> None:
        self._stores = stores
        self._embedder = embedder
        self._clock = clock
        self._budget_s = budget_s
        self._episodes = Episodes(stores, embedder.name, ranking)
        self._sources: dict[str, Source] = {source.kind: source for source in (self._episodes, *sources)}
        self._indexing = Indexing(stores, embedder)
        self._uncounted: deque[_Uses] = deque(maxlen=_MAX_UNCOUNTED)

    async def recall(
        self,
        soul_id: str,
        text: str,
        k: int = 3,
        exclude: Collection[int] = (),
        count_use: bool = True,
        audience: Audience = None,
    ) -> Recalled:
        """The k best of each source. Does not raise when one is down: `problem` says so.

        What is found is counted as recalled, unless `count_use` is false.
        """
        terms = query_terms(text)
        if not terms:
            return Recalled()
        deadline = asyncio.get_running_loop().time() + self._budget_s
        # Half of the budget for the vector: without it the episodes can still be searched by their terms.
        vector, no_vector = await _in_time("meaning", deadline - self._budget_s / 2, self._embed(text))
        query = Query(soul_id, text, terms, vector, self._clock(), k, audience, exclude)
        answers = await asyncio.gather(
            *(_in_time(f"{kind}s", deadline, source.search(query)) for kind, source in self._sources.items())
        )
        found = {kind: hits or [] for kind, (hits, _) in zip(self._sources, answers, strict=True)}
        if count_use:
            ids = {kind: [hit.source_id for hit in hits] for kind, hits in found.items()}
            self._uncounted.append(_Uses(query.now, ids))
        problem = "; ".join(filter(None, (no_vector, *(problem for _, problem in answers))))
        return Recalled([hit for hits in found.values() for hit in hits], problem)

    async def episodes(
        self, soul_id: str, text: str, k: int, exclude: Collection[int] = (), audience: Audience = None
    ) -> list[RecalledEpisode]:
        """The k best messages of all sessions of this soul. Raises when the store or the embedder is down."""
        terms = query_terms(text)
        if not terms:
            return []
        vector = await self._embed(text)
        return await self._episodes.search(Query(soul_id, text, terms, vector, self._clock(), k, audience, exclude))

    async def texts(self, soul_id: str, sources: Collection[str]) -> dict[str, str]:
        """The texts of sources like `episode:12`, `event:evt_…` and `summary:…`; those that are gone are left out."""
        texts: dict[str, str] = {}
        for kind, source in self._sources.items():
            if ids := _ids_of(kind, sources):
                found = await source.texts(soul_id, ids)
                texts |= {f"{kind}:{source_id}": text for source_id, text in found.items()}
        return texts

    async def record_useful(self, soul_id: str, sources: Collection[str], reply: str) -> None:
        """Count one use of each source that the reply draws on, which is seen by the terms they share."""
        terms = set(terms_of(reply))
        texts = await self.texts(soul_id, sources)
        used = [source for source, text in texts.items() if len(terms & set(terms_of(text))) >= _MIN_SHARED_TERMS]
        if used:
            async with self._stores.write() as tx:
                for kind, source in self._sources.items():
                    await source.note_use(tx, (), _ids_of(kind, used), self._clock())

    def forget_index(self, soul_id: str, corrected: int | None = None) -> None:
        """To be called when messages of this soul were shared or taken back, so that the next search sees it.

        A message that was `corrected` has lost its vector: `index` looks for such messages from there on again.
        """
        self._episodes.forget_index(soul_id)
        if corrected is not None:
            self._indexing.revisit(corrected)

    async def index(self, limit: int = 64) -> int:
        """Compute the vectors of up to `limit` messages; returns how many, 0 when none is missing.

        To be called after turns until it returns 0. It also writes the counts of what was recalled meanwhile.
        """
        if self._uncounted:
            await self._count_recalled()
        return await self._indexing.index(limit)

    async def close(self) -> None:
        await self._episodes.close()

    async def _embed(self, text: str) -> Floats:
        vector: Floats = (await self._embedder.embed([text]))[0]
        return vector

    async def _count_recalled(self) -> None:
        """Write the counts of what was recalled since the last time. A crash before that loses only these counts."""
        uncounted = list(self._uncounted)
        self._uncounted.clear()
        at = max(uses.at for uses in uncounted)
        async with self._stores.write() as tx:
            for kind, source in self._sources.items():
                await source.note_use(tx, [one for uses in uncounted for one in uses.ids[kind]], (), at)


async def _in_time(source: str, deadline: float, search: Awaitable[T]) -> tuple[T | None, str]:
    """(result, "") or (None, problem) when the search takes too long or its service is down."""
    try:
        async with asyncio.timeout_at(deadline):
            return await search, ""
    except TimeoutError:
        return None, f"{source}: no answer in time"
    except (StoreUnavailable, SenseUnavailable) as error:
        return None, f"{source}: {error.detail}"


def _ids_of(kind: str, sources: Iterable[str]) -> list[str]:
    """The ids of the sources of this kind, which are written `kind:id`."""
    return [source.partition(":")[2] for source in sources if source.startswith(f"{kind}:")]
