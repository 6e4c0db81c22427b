"""Recall: what comes to a soul's mind. Its own episodes and everybody's events, found together and in little time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from soulgraph.errors import SenseUnavailable, StoreUnavailable
from soulgraph.memory.events import Event, EventLibrary
from soulgraph.memory.index import Found
from soulgraph.memory.index_cache import IndexCache
from soulgraph.memory.ranking import EPISODES, Floats, Weights, served
from soulgraph.senses.ports import Embedder
from soulgraph.senses.tokenizer import query_terms, terms_of
from soulgraph.stores.episodes import Told
from soulgraph.stores.records import EpisodeVector, EventUse, Message
from soulgraph.stores.stores import Stores

BUDGET_S = 1.5
_LOOK_BACK = 1000  # ids; a message may be committed after one with a later id
_STRETCH = 5000  # ids looked through at once for messages without a vector
_ECHO = 2  # terms that a reply shares with what was recalled when it draws on it
_REPEATED = 0.6  # share of an earlier message's terms that makes a reply its echo
_ECHO_STANDING = 0.5  # how high it stands at most, compared with what it repeats

_UNNOTED = 1000  # recollections that may wait to be counted
_SPARE = 8  # candidates beyond those wanted: what proved useful may overtake, and what echoes falls back

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RecalledEpisode:
    """Something that was said, between what was said before and after it."""

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
    """What came to mind; `problem` says what could not be asked, and is empty when everything could."""

    episodes: list[RecalledEpisode]
    events: list[RecalledEvent]
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
    ) -> None:
        self._stores = stores
        self._embedder = embedder
        self._events = events
        self._clock = clock
        self._budget_s = budget_s
        self._weights = weights
        self._shelf = IndexCache(stores, embedder.name, weights)
        self._indexed_to = 0
        self._unnoted: deque[tuple[float, Recalled]] = deque(maxlen=_UNNOTED)

    async def recall(
        self, soul_id: str, text: str, k: int = 3, exclude: Collection[int] = (), noted: bool = True
    ) -> Recalled:
        """The k best of each kind. Never raises for a memory that is away: `problem` says so.

        What comes to mind is noted as recalled, unless somebody only looks.
        """
        asked = query_terms(text)
        if not asked:
            return Recalled([], [])
        until = asyncio.get_running_loop().time() + self._budget_s
        vector, no_vector = await self._in_time("meaning", until - self._budget_s / 2, self._vector(text))
        (episodes, no_episodes), (events, no_events) = await asyncio.gather(
            self._in_time("episodes", until, self._episodes(soul_id, asked, vector, k, exclude)),
            self._in_time("events", until, self._found_events(text, vector, k)),
        )
        problem = "; ".join(filter(None, (no_vector, no_episodes, no_events)))
        recalled = Recalled(episodes or [], events or [], problem)
        if noted:
            self._unnoted.append((self._clock(), recalled))
        return recalled

    async def episodes(self, soul_id: str, text: str, k: int, exclude: Collection[int] = ()) -> list[RecalledEpisode]:
        """What was said to or by this soul, in any of its sessions; raises when it cannot be looked up."""
        asked = query_terms(text)
        return await self._episodes(soul_id, asked, await self._vector(text), k, exclude) if asked else []

    async def _episodes(
        self, soul_id: str, asked: Sequence[int], vector: Floats | None, k: int, exclude: Collection[int]
    ) -> list[RecalledEpisode]:
        for _ in range(2):
            found = await self._shelf.search(soul_id, asked, vector, self._clock(), k + _SPARE, exclude)
            told = await self._told(soul_id, found)
            if all(message_id in told for message_id in found.message_ids):
                break
            self._shelf.drop(soul_id)
        return _chosen(found, told, k, self._weights)

    async def _found_events(self, text: str, vector: Floats | None, k: int) -> list[RecalledEvent]:
        if self._events is None or vector is None:
            return []
        return [RecalledEvent(*found) for found in await self._events.ranked(text, k, vector)]

    async def texts(self, soul_id: str, sources: Collection[str]) -> dict[str, str]:
        """What stands behind sources like `episode:12` and `event:evt_…`, as far as it is still there."""
        episodes, events = (_named(sources, kind) for kind in ("episode", "event"))
        async with self._stores.read() as tx:
            told = await tx.episodes.told(soul_id, [int(message_id) for message_id in episodes])
        found = [event for one in events if self._events and (event := await self._events.find(one))]
        said = {f"episode:{message_id}": one.message.content for message_id, one in told.items()}
        return said | {f"event:{event.event_id}": event.search_text for event in found}

    async def proved_useful(self, soul_id: str, sources: Collection[str], reply: str) -> None:
        """Count what the reply drew on: it repeats words of what had come to mind."""
        words, texts = set(terms_of(reply)), await self.texts(soul_id, sources)
        drawn = [source for source, text in texts.items() if len(words & set(terms_of(text))) >= _ECHO]
        if drawn:
            async with self._stores.write() as tx:
                await tx.episodes.useful([int(message_id) for message_id in _named(drawn, "episode")])
                await tx.events.useful(_named(drawn, "event"))

    async def index(self, limit: int = 64) -> int:
        """Give up to so many messages their vectors; says how many got one, 0 when none was without.

        To be called after turns until it returns 0. It also counts what was recalled meanwhile.
        """
        if self._unnoted:
            await self._note()
        async with self._stores.read() as tx:
            last = await tx.vectors.last_message()
            missing = await tx.vectors.missing(self._embedder.name, self._indexed_to, self._indexed_to + _STRETCH)
        if not missing:
            self._indexed_to = max(0, min(self._indexed_to + _STRETCH, last - _LOOK_BACK))
            return await self.index(limit) if self._indexed_to + _STRETCH < last else 0
        batch = missing[:limit]
        vectors = await self._embedder.embed([content for _, _, content in batch])
        async with self._stores.write() as tx:
            await tx.vectors.put([self._stored(one, vector) for one, vector in zip(batch, vectors, strict=True)])
        return len(batch)

    async def forget_session(self, session_id: str) -> list[str]:
        """Forget the events that only this session has shown; its messages go with the session itself."""
        return await self._events.forget_session(session_id) if self._events else []

    async def forget_event(self, event_id: str) -> None:
        if self._events:
            await self._events.delete(event_id)

    async def close(self) -> None:
        await self._shelf.close()

    async def _in_time(self, what: str, until: float, search: Awaitable[T]) -> tuple[T | None, str]:
        try:
            async with asyncio.timeout_at(until):
                return await search, ""
        except TimeoutError:
            return None, f"{what}: no answer in time"
        except (StoreUnavailable, SenseUnavailable) as error:
            return None, f"{what}: {error.detail}"

    async def _vector(self, text: str) -> Floats:
        vector: Floats = (await self._embedder.embed([text]))[0]
        return vector

    async def _told(self, soul_id: str, found: Found) -> dict[int, Told]:
        ids = {*found.message_ids, *(id_ for pair in found.around for id_ in pair if id_ is not None)}
        async with self._stores.read() as tx:
            return await tx.episodes.told(soul_id, ids)

    async def _note(self) -> None:
        """Count what came to mind since the last time; a crash forgets these counts and nothing else."""
        unnoted = list(self._unnoted)
        self._unnoted.clear()
        at = max(at for at, _ in unnoted)
        async with self._stores.write() as tx:
            await tx.episodes.recalled([one.message.message_id for _, each in unnoted for one in each.episodes], at)
            await tx.events.recalled([one.event.event_id for _, each in unnoted for one in each.events], at)

    def _stored(self, message: tuple[int, str, str], vector: Floats) -> EpisodeVector:
        return EpisodeVector(message[0], message[1], self._embedder.name, vector.astype("<f2").tobytes())


def _chosen(found: Found, told: dict[int, Told], k: int, weights: Weights) -> list[RecalledEpisode]:
    """The best of the candidates, now that it is known how useful each was, with what was said around them."""
    places = [place for place, message_id in enumerate(found.message_ids) if message_id in told]
    candidates = [told[found.message_ids[place]] for place in places]
    useful = np.array([one.useful for one in candidates], np.float32)
    scores = _echoes_last([one.message for one in candidates], found.standing[places] + served(useful, weights))
    order = np.argsort(-scores, kind="stable")[:k]
    return [_recalled(told, found, places[n], float(scores[n])) for n in order]


def _echoes_last(said: Sequence[Message], scores: Floats) -> Floats:
    """A reply that repeats what was said before stands well below it: it adds nothing, and may come of recalling it."""
    words = [set(terms_of(message.content)) for message in said]
    lowered = scores.copy()
    for n, reply in enumerate(said):
        for m, earlier in enumerate(said):
            if reply.role != "user" and earlier.message_id < reply.message_id and _repeats(words[n], words[m]):
                lowered[n] = min(lowered[n], scores[m] * _ECHO_STANDING)
    return lowered


def _repeats(words: set[str], earlier: set[str]) -> bool:
    return len(words & earlier) >= max(_ECHO, _REPEATED * len(earlier))


def _recalled(told: dict[int, Told], found: Found, place: int, score: float) -> RecalledEpisode:
    before, after = (_message(message_id, told) for message_id in found.around[place])
    return RecalledEpisode(told[found.message_ids[place]].message, before, after, round(score, 4))


def _message(message_id: int | None, told: dict[int, Told]) -> Message | None:
    known = told.get(message_id) if message_id is not None else None
    return known.message if known else None


def _named(sources: Collection[str], kind: str) -> list[str]:
    """The ids of those sources that are of this kind."""
    return [source.partition(":")[2] for source in sources if source.startswith(f"{kind}:")]
