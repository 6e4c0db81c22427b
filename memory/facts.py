"""Facts as a source of recall: what all of the audience may know, found by the words and the meaning of a query."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from soulgraph.errors import SenseUnavailable, StoreUnavailable
from soulgraph.memory.ranking import Floats, Weights, relevance, score
from soulgraph.memory.source import Audience, Query
from soulgraph.senses.ports import Embedder
from soulgraph.senses.tokenizer import terms_of
from soulgraph.stores.facts import Stamp
from soulgraph.stores.records import Fact
from soulgraph.stores.stores import Stores, Transaction

# Facts are single sentences: one common word says much, and almost any text is somewhat similar to one of them.
FACTS = Weights(lexical=0.8, recent=0.04, useful=0, floor=0.35)
POLL_S, RETRY_S = 2.0, 30.0

_MAX_TERMS = 5  # of a query that a fact must share: a long message is about more than one thing
_PAST = 0.7  # of the score of what holds no more
_MAX_ROWS = 20_000  # facts kept in memory over all audiences
_BATCH = 64
_LARGEST_BYTE = 127

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecalledFact:
    fact: Fact
    score: float

    @property
    def source_id(self) -> str:
        return self.fact.fact_id


@dataclass(frozen=True, slots=True)
class _Shelf:
    """The facts that one audience may know, with their vectors; a row of zeros for one that has none yet."""

    stamp: Stamp
    facts: list[Fact]
    vectors: NDArray[np.int8]
    """A byte for each value, because a soul may know thousands of facts."""
    scales: Floats
    """By which the bytes of a row are to be multiplied."""

    def cosines(self, vector: Floats) -> Floats:
        cosines: Floats = (self.vectors.astype(np.float32) @ vector) * self.scales
        return cosines


class FactSource:
    kind = "fact"

    def __init__(self, stores: Stores, embedder: Embedder) -> None:
        self._stores = stores
        self._embedder = embedder
        self._cached: OrderedDict[tuple[str, Audience], _Shelf] = OrderedDict()

    async def search(self, query: Query) -> list[RecalledFact]:
        """What rests on excluded messages alone is left out."""
        known = await self._known(query.soul_id, query.audience)
        if not known.facts:
            return []
        scores = _scores(known, query)
        order = [int(n) for n in np.argsort(-scores, kind="stable") if scores[n] > 0]
        excluded = {*query.exclude}
        found = (n for n in order if not known.facts[n].message_ids or {*known.facts[n].message_ids} - excluded)
        return [RecalledFact(known.facts[n], round(float(scores[n]), 4)) for n in [*found][: query.k]]

    async def texts(self, soul_id: str, ids: Collection[str]) -> dict[str, str]:
        async with self._stores.read() as tx:
            return {fact.fact_id: fact.content for fact in await tx.facts.find_all(soul_id, ids)}

    async def note_use(self, tx: Transaction, recalled: Collection[str], useful: Collection[str], now: float) -> None:
        """Facts are not ranked by use."""

    async def index(self) -> int:
        """Compute some of the vectors that are missing; returns how many."""
        async with self._stores.read() as tx:
            missing = await tx.facts.without_vector(_BATCH)
        if missing:
            vectors = await self._embedder.embed([fact.content for fact in missing])
            rows = [(fact, vector.astype("<f2").tobytes()) for fact, vector in zip(missing, vectors, strict=True)]
            async with self._stores.write() as tx:
                await tx.facts.put_vectors(self._embedder.name, rows)
        return len(missing)

    async def forget_other_models(self) -> None:
        """Vectors of another embedder are computed anew."""
        async with self._stores.write() as tx:
            await tx.facts.drop_vectors(self._embedder.name)

    async def _known(self, soul_id: str, audience: Audience) -> _Shelf:
        """Read again only when something has changed: a turn must not cost more with every fact there is."""
        key = soul_id, audience
        async with self._stores.read() as tx:
            stamp = await tx.facts.stamp(soul_id)
            cached = self._cached.get(key)
            if cached is None or cached.stamp != stamp:
                cached = await self._read(tx, stamp, soul_id, audience)
        self._cached[key] = cached
        self._cached.move_to_end(key)
        while len(self._cached) > 1 and sum(len(one.facts) for one in self._cached.values()) > _MAX_ROWS:
            self._cached.popitem(last=False)
        return cached

    async def _read(self, tx: Transaction, stamp: Stamp, soul_id: str, audience: Audience) -> _Shelf:
        facts = await tx.facts.known_to(soul_id, audience)
        stored = await tx.facts.vectors(soul_id, self._embedder.name) if facts else {}
        size = max((len(vector) // 2 for vector in stored.values()), default=0)
        vectors = np.zeros((len(facts), size), np.float32)
        for n, fact in enumerate(facts):
            if fact.fact_id in stored:
                vectors[n] = np.frombuffer(stored[fact.fact_id], "<f2")
        scales = np.maximum(np.abs(vectors).max(axis=1, initial=0), 1e-6) / _LARGEST_BYTE
        return _Shelf(stamp, facts, np.rint(vectors / scales[:, None]).astype(np.int8), scales)


def _scores(known: _Shelf, query: Query) -> Floats:
    """The score of each fact; 0 for what is not relevant."""
    terms = set(terms_of(query.text))
    lexical = np.array([_shared(terms, _terms(fact.content)) for fact in known.facts], np.float32)
    comparable = query.vector is not None and known.vectors.shape[1] == len(query.vector)
    dense = known.cosines(query.vector) if comparable and query.vector is not None else np.zeros_like(lexical)
    relevant = relevance(lexical, dense, FACTS)
    age_s = np.array([query.now - fact.said_at for fact in known.facts], np.float32)
    scores = score(relevant, age_s, FACTS)
    scores *= np.where([fact.holds for fact in known.facts], 1.0, _PAST)
    return np.where(relevant >= FACTS.floor, scores, 0.0)


def _shared(terms: set[str], others: tuple[str, ...]) -> float:
    return len(terms.intersection(others)) / max(min(len(terms), len(others), _MAX_TERMS), 1)


@lru_cache(maxsize=8192)
def _terms(content: str) -> tuple[str, ...]:
    """Each once. Not a set, which takes up to ten times the memory."""
    return tuple(dict.fromkeys(terms_of(content)))


@asynccontextmanager
async def open_facts(stores: Stores, embedder: Embedder) -> AsyncIterator[FactSource]:
    """The source, with a background task that computes the vectors of new facts."""
    source = FactSource(stores, embedder)
    await source.forget_other_models()
    indexing = asyncio.create_task(_index(source), name="indexing facts")
    try:
        yield source
    finally:
        indexing.cancel()
        with suppress(asyncio.CancelledError):
            await indexing


async def _index(source: FactSource) -> None:
    while True:
        try:
            more = await source.index()
            await asyncio.sleep(0 if more else POLL_S)
        except (StoreUnavailable, SenseUnavailable) as error:
            _log.warning("facts are not indexed for now: %s", error.detail)
            await asyncio.sleep(RETRY_S)
