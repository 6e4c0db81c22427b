"""Recall: search over a soul's own episodes and summaries and the events, within a time budget.

Only what the whole audience may know is found; without an audience, as for an owner, everything.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from soulgraph.errors import SenseUnavailable, StoreUnavailable
from soulgraph.memory.events import Event, EventLibrary, audience_of
from soulgraph.memory.index import Candidates
from soulgraph.memory.index_cache import Audience, IndexCache
from soulgraph.memory.ranking import EPISODES, Floats, Weights, usefulness_bonus
from soulgraph.memory.summaries import RecalledSummary, Summaries
from soulgraph.senses.ports import Embedder
from soulgraph.senses.tokenizer import query_terms, terms_of
from soulgraph.soul.people import EVERYONE
from soulgraph.stores.episodes import StoredMessage
from soulgraph.stores.records import EpisodeVector, EventUse, Message
from soulgraph.stores.stores import Stores

BUDGET_S = 1.5
_LOOK_BACK = 1000  # ids looked at again, because a message may be committed after one with a later id
_WINDOW = 5000  # ids searched at once for messages without a vector
_MIN_SHARED_TERMS = 2  # terms that a reply shares with a memory it draws on
_REPEATED_SHARE = 0.6  # share of an earlier message's terms from which a reply counts as its repetition
_REPETITION_SCORE = 0.5  # highest score of a repetition, as a share of the score of what it repeats

_MAX_UNCOUNTED = 1000  # recalls that may wait to be counted
_EXTRA_CANDIDATES = 8  # beyond k, because the usefulness bonus and the repetition penalty change the order

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RecalledEpisode:
    """A message with the messages before and after it in its session."""

    message: Message
    before: Message | None
    after: Message | None
    score: float


@dataclass(frozen=True, slots=True)
class RecalledEvent:
    event: Event
    use: EventUse
    score: float


@dataclass(frozen=True, slots=True)
class Recalled:
    """What was found. `problem` names the sources that failed or were too slow; empty when all answered."""

    episodes: list[RecalledEpisode]
    events: list[RecalledEvent]
    summaries: list[RecalledSummary] = field(default_factory=list)
    problem: str = ""


class Recall:
    def __init__(
        self,
        stores: Stores,
        embedder: Embedder,
        events: EventLibrary | None,
        clock: Callable[[], float],
        budget_s: float = BUDGET_S,
        weights: Weights = EPISODES,
        summaries: Summaries | None = None,
    ) -> None:
        self._stores = stores
        self._embedder = embedder
        self._events = events
        self._summaries = summaries
        self._clock = clock
        self._budget_s = budget_s
        self._weights = weights
        self._indexes = IndexCache(stores, embedder.name, weights)
        self._indexed_to = 0
        self._corrected: set[int] = set()  # messages that were corrected while `index` computed vectors
        self._uncounted: deque[tuple[float, Recalled]] = deque(maxlen=_MAX_UNCOUNTED)

    async def recall(
        self,
        soul_id: str,
        text: str,
        k: int = 3,
        exclude: Collection[int] = (),
        count_use: bool = True,
        audience: Audience = None,
    ) -> Recalled:
        """The k best of each kind. Does not raise when a source is down: `problem` says so.

        What is found is counted as recalled, unless `count_use` is false.
        """
        terms = query_terms(text)
        if not terms:
            return Recalled([], [])
        deadline = asyncio.get_running_loop().time() + self._budget_s
        # Half of the budget for the vector: without it the episodes can still be searched by their terms.
        vector, no_vector = await self._in_time("meaning", deadline - self._budget_s / 2, self._embed(text))
        (episodes, no_episodes), (events, no_events), (summaries, no_summaries) = await asyncio.gather(
            self._in_time("episodes", deadline, self._search_episodes(soul_id, terms, vector, k, exclude, audience)),
            self._in_time("events", deadline, self._search_events(soul_id, text, vector, k, audience)),
            self._in_time("summaries", deadline, self._search_summaries(soul_id, text, vector, k, audience)),
        )
        problem = "; ".join(filter(None, (no_vector, no_episodes, no_events, no_summaries)))
        recalled = Recalled(episodes or [], events or [], summaries or [], problem)
        if count_use:
            self._uncounted.append((self._clock(), recalled))
        return recalled

    async def episodes(
        self, soul_id: str, text: str, k: int, exclude: Collection[int] = (), audience: Audience = None
    ) -> list[RecalledEpisode]:
        """The k best messages of all sessions of this soul. Raises when the store or the embedder is down."""
        terms = query_terms(text)
        if not terms:
            return []
        return await self._search_episodes(soul_id, terms, await self._embed(text), k, exclude, audience)

    def forget_index(self, soul_id: str, corrected: int | None = None) -> None:
        """To be called when messages of this soul were shared or taken back, so that the next search sees it.

        A message that was `corrected` has lost its vector: `index` looks for such messages from there on again.
        """
        self._indexes.drop(soul_id)
        if corrected is not None:
            self._corrected.add(corrected)
            self._indexed_to = min(self._indexed_to, corrected - 1)

    async def _search_episodes(
        self,
        soul_id: str,
        terms: Sequence[int],
        vector: Floats | None,
        k: int,
        exclude: Collection[int],
        audience: Audience,
    ) -> list[RecalledEpisode]:
        # What was deleted or taken back is still in the cached index: then the index is read again, once.
        for _ in range(2):
            limit = k + _EXTRA_CANDIDATES
            candidates = await self._indexes.search(soul_id, audience, terms, vector, self._clock(), limit, exclude)
            messages = await self._load_messages(soul_id, candidates, audience)
            if all(message_id in messages for message_id in candidates.message_ids):
                break
            self._indexes.drop(soul_id)
        return _best(candidates, messages, k, self._weights)

    async def _search_events(
        self, soul_id: str, text: str, vector: Floats | None, k: int, audience: Audience
    ) -> list[RecalledEvent]:
        if self._events is None or vector is None:
            return []
        audiences = None if audience is None else (EVERYONE, audience_of(soul_id, audience))
        return [RecalledEvent(*found) for found in await self._events.ranked(text, k, vector, audiences)]

    async def _search_summaries(
        self, soul_id: str, text: str, vector: Floats | None, k: int, audience: Audience
    ) -> list[RecalledSummary]:
        if self._summaries is None or vector is None:
            return []
        return await self._summaries.ranked(soul_id, text, k, vector, audience)

    async def texts(self, soul_id: str, sources: Collection[str]) -> dict[str, str]:
        """The texts of sources like `episode:12`, `event:evt_…` and `summary:…`; those that are gone are left out."""
        message_ids = [int(message_id) for message_id in _ids_of("episode", sources)]
        async with self._stores.read() as tx:
            messages = await tx.episodes.messages(soul_id, message_ids)
        event_ids = _ids_of("event", sources)
        events = [event for one in event_ids if self._events and (event := await self._events.find(one))]
        summary_ids = _ids_of("summary", sources)
        summaries = await self._summaries.texts(soul_id, summary_ids) if self._summaries and summary_ids else {}
        contents = {f"episode:{message_id}": one.message.content for message_id, one in messages.items()}
        contents |= {f"event:{event.event_id}": event.search_text for event in events}
        return contents | {f"summary:{summary_id}": text for summary_id, text in summaries.items()}

    async def record_useful(self, soul_id: str, sources: Collection[str], reply: str) -> None:
        """Count one use of each source that the reply draws on, which is seen by the terms they share."""
        terms = set(terms_of(reply))
        texts = await self.texts(soul_id, sources)
        used = [source for source, text in texts.items() if len(terms & set(terms_of(text))) >= _MIN_SHARED_TERMS]
        if used:
            async with self._stores.write() as tx:
                await tx.episodes.useful([int(message_id) for message_id in _ids_of("episode", used)])
                await tx.events.useful(_ids_of("event", used))

    async def index(self, limit: int = 64) -> int:
        """Compute the vectors of up to `limit` messages; returns how many, 0 when none is missing.

        To be called after turns until it returns 0. It also writes the counts of what was recalled meanwhile.
        """
        if self._uncounted:
            await self._count_recalled()
        self._corrected.clear()
        start = self._indexed_to
        async with self._stores.read() as tx:
            last = await tx.vectors.last_message()
            missing = await tx.vectors.missing(self._embedder.name, start, start + _WINDOW)
        if not missing and self._corrected:  # in what was just searched, perhaps
            return await self.index(limit)
        if not missing:
            self._indexed_to = max(0, min(start + _WINDOW, last - _LOOK_BACK))
            return await self.index(limit) if self._indexed_to + _WINDOW < last else 0
        batch = missing[:limit]
        vectors = await self._embedder.embed([content for _, _, content in batch])
        indexed = [pair for pair in zip(batch, vectors, strict=True) if pair[0][0] not in self._corrected]
        rows = [self._vector_row(message, vector) for message, vector in indexed]
        async with self._stores.write() as tx:
            await tx.vectors.put(rows)
        return len(batch)

    async def close(self) -> None:
        await self._indexes.close()

    async def _in_time(self, source: str, deadline: float, search: Awaitable[T]) -> tuple[T | None, str]:
        """(result, "") or (None, problem) when the search takes too long or its service is down."""
        try:
            async with asyncio.timeout_at(deadline):
                return await search, ""
        except TimeoutError:
            return None, f"{source}: no answer in time"
        except (StoreUnavailable, SenseUnavailable) as error:
            return None, f"{source}: {error.detail}"

    async def _embed(self, text: str) -> Floats:
        vector: Floats = (await self._embedder.embed([text]))[0]
        return vector

    async def _load_messages(
        self, soul_id: str, candidates: Candidates, audience: Audience
    ) -> dict[int, StoredMessage]:
        """The candidates and their neighbours by id; those that were deleted or taken back are missing."""
        neighbours = (id_ for pair in candidates.neighbours for id_ in pair if id_ is not None)
        async with self._stores.read() as tx:
            return await tx.episodes.messages(soul_id, {*candidates.message_ids, *neighbours}, audience)

    async def _count_recalled(self) -> None:
        """Write the counts of what was recalled since the last time. A crash before that loses only these counts."""
        uncounted = list(self._uncounted)
        self._uncounted.clear()
        at = max(at for at, _ in uncounted)
        async with self._stores.write() as tx:
            await tx.episodes.recalled([one.message.message_id for _, each in uncounted for one in each.episodes], at)
            await tx.events.recalled([one.event.event_id for _, each in uncounted for one in each.events], at)

    def _vector_row(self, message: tuple[int, str, str], vector: Floats) -> EpisodeVector:
        return EpisodeVector(message[0], message[1], self._embedder.name, vector.astype("<f2").tobytes())


def _best(
    candidates: Candidates, messages: dict[int, StoredMessage], k: int, weights: Weights
) -> list[RecalledEpisode]:
    """The k best candidates after the usefulness bonus and the repetition penalty, with their neighbours.

    A message that forks of its session have too is found once.
    """
    positions = [n for n, message_id in enumerate(candidates.message_ids) if message_id in messages]
    found = [messages[candidates.message_ids[n]] for n in positions]
    bonus = usefulness_bonus(np.array([one.useful for one in found], np.float32), weights)
    scores = _penalise_repetitions([one.message for one in found], candidates.scores[positions] + bonus)
    best = {found[n].message.original: n for n in np.argsort(scores, kind="stable")}  # of copies the best one
    order = sorted(best.values(), key=lambda n: -scores[n])[:k]
    return [_recalled_episode(messages, candidates, positions[n], float(scores[n])) for n in order]


def _penalise_repetitions(messages: Sequence[Message], scores: Floats) -> Floats:
    """Lower the score of a reply that repeats an earlier message: it adds nothing, and may stem from recalling it."""
    terms = [set(terms_of(message.content)) for message in messages]
    lowered = scores.copy()
    for n, reply in enumerate(messages):
        for m, earlier in enumerate(messages):
            if reply.role != "user" and earlier.message_id < reply.message_id and _repeats(terms[n], terms[m]):
                lowered[n] = min(lowered[n], scores[m] * _REPETITION_SCORE)
    return lowered


def _repeats(terms: set[str], earlier: set[str]) -> bool:
    return len(terms & earlier) >= max(_MIN_SHARED_TERMS, _REPEATED_SHARE * len(earlier))


def _recalled_episode(
    messages: dict[int, StoredMessage], candidates: Candidates, position: int, score: float
) -> RecalledEpisode:
    before, after = (_message(message_id, messages) for message_id in candidates.neighbours[position])
    message = messages[candidates.message_ids[position]].message
    return RecalledEpisode(message, before, after, round(score, 4))


def _message(message_id: int | None, messages: dict[int, StoredMessage]) -> Message | None:
    known = messages.get(message_id) if message_id is not None else None
    return known.message if known else None


def _ids_of(kind: str, sources: Collection[str]) -> list[str]:
    """The ids of the sources of this kind, which are written `kind:id`."""
    return [source.partition(":")[2] for source in sources if source.startswith(f"{kind}:")]
