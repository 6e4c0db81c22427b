"""The event library: abstract experience that every soul shares. Chroma holds the events, SQL their catalogue."""

import json
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from soulgraph.errors import NotFound
from soulgraph.memory.chroma import Near, Vault, open_embedded, open_server
from soulgraph.memory.ranking import EVENTS, Floats, relevance, served, standing
from soulgraph.senses.ports import Embedder
from soulgraph.senses.tokenizer import terms_of
from soulgraph.stores.records import EventUse, Json, Provenance
from soulgraph.stores.stores import Stores

SAME = 0.95
"""Cosine from which on two events are one."""

_CANDIDATES = 24


@dataclass(frozen=True, slots=True)
class Pattern:
    precondition: str
    trigger: str
    reaction: str
    impact: str


@dataclass(frozen=True, slots=True)
class Event:
    """What happened, told so that it could have happened to anybody."""

    event_id: str
    summary: str
    pattern: Pattern
    impact: Json
    narrative_fragment: str
    timestamp: str

    @property
    def search_text(self) -> str:
        """The words whose meaning finds this event."""
        return " ".join([self.summary, self.pattern.precondition, self.pattern.trigger])

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, document: str) -> "Event":
        fields: dict[str, Any] = json.loads(document)
        return cls(**{**fields, "pattern": Pattern(**fields["pattern"])})


class EventLibrary:
    def __init__(self, vault: Vault, stores: Stores, embedder: Embedder, clock: Callable[[], float]) -> None:
        self._vault = vault
        self._stores = stores
        self._embedder = embedder
        self._clock = clock
        self._opened = False

    async def add(self, event: Event, session_id: str, soul_id: str, message_ids: Sequence[int]) -> str:
        """Keep an event, or let one that is almost the same stand for it; returns the id that is kept.

        The messages it was drawn from are archived with its line in the catalogue, and not before it is stored. Adding
        it again after a failure changes nothing: what was stored is recognised.
        """
        kept, now = await self._shelved(event), self._clock()
        async with self._stores.write() as tx:
            await tx.events.add(kept, now)
            if kept != event.event_id:
                await tx.events.merged(kept)
            await tx.events.trace(Provenance(kept, session_id, soul_id, list(message_ids), now))
            await tx.messages.archive(message_ids)
        return kept

    async def _shelved(self, event: Event) -> str:
        """The id under which Chroma has it."""
        if await self.find(event.event_id):
            return event.event_id
        vector = (await self._embedder.embed([event.search_text]))[0]
        twin = next(iter(await self._vault.near(vector, 1)), None)
        if twin and twin.cosine >= SAME:
            return twin.id
        await self._vault.put({event.event_id: event.to_json()}, vector[None])
        return event.event_id

    async def find(self, event_id: str) -> Event | None:
        document = (await self._vault.get([event_id])).get(event_id)
        return Event.from_json(document) if document else None

    async def get(self, event_id: str) -> Event:
        event = await self.find(event_id)
        if event is None:
            raise NotFound("event", event_id)
        return event

    async def page(self, limit: int, offset: int = 0) -> list[tuple[Event, EventUse]]:
        """The newest first."""
        async with self._stores.read() as tx:
            uses = await tx.events.page(limit, offset)
        documents = await self._vault.get([use.event_id for use in uses])
        return [(Event.from_json(documents[use.event_id]), use) for use in uses if use.event_id in documents]

    async def search(self, text: str, k: int) -> list[tuple[Event, EventUse]]:
        """The k most relevant, if any are, each with its line in the catalogue."""
        return [(event, use) for event, use, _ in await self.ranked(text, k)]

    async def ranked(self, text: str, k: int, vector: Floats | None = None) -> list[tuple[Event, EventUse, float]]:
        """The same with their scores; whoever has the text's vector gives it."""
        if not await self._has_any():
            return []
        if vector is None:
            vector = (await self._embedder.embed([text]))[0]
        near = await self._vault.near(vector, max(_CANDIDATES, 2 * k))
        async with self._stores.read() as tx:
            uses = await tx.events.uses([one.id for one in near])
        return _best(text, [one for one in near if one.id in uses], uses, k, self._clock())

    async def _has_any(self) -> bool:
        """An empty library is not worth opening Chroma for; once there was an event, it is open."""
        if not self._opened:
            async with self._stores.read() as tx:
                self._opened = await tx.events.count() > 0
        return self._opened

    async def delete(self, event_id: str) -> None:
        await self.get(event_id)
        await self._remove([event_id])

    async def forget_session(self, session_id: str) -> list[str]:
        """Remove what only this session has shown, and every trace of it from the rest; returns what is gone."""
        async with self._stores.read() as tx:
            gone = await tx.events.drawn_only_from(session_id)
        await self._remove(gone)
        async with self._stores.write() as tx:
            await tx.events.untrace(session_id)
        return gone

    async def tidy(self, most: int) -> list[str]:
        """Keep at most so many: the least recalled go first, the oldest of them; returns what is gone."""
        async with self._stores.read() as tx:
            over = await tx.events.count() - most
            gone = await tx.events.dispensable(over) if over > 0 else []
        await self._remove(gone)
        return gone

    async def _remove(self, event_ids: Sequence[str]) -> None:
        """From Chroma first: what the catalogue still has can be removed again."""
        await self._vault.delete(event_ids)
        async with self._stores.write() as tx:
            await tx.events.remove(event_ids)


@asynccontextmanager
async def open_events(
    stores: Stores, embedder: Embedder, clock: Callable[[], float], *, folder: Path, url: str = ""
) -> AsyncIterator[EventLibrary]:
    """The library in a folder of this process, or on the Chroma server at the URL."""
    name = collection_of(embedder.name)
    async with open_server(url, name) if url else open_embedded(folder, name) as vault:
        yield EventLibrary(vault, stores, embedder, clock)


def collection_of(model: str) -> str:
    """Vectors of different models do not compare, so each has a collection of its own."""
    readable = re.sub(r"[^a-zA-Z0-9]+", "-", model).strip("-")[:40]
    return f"events-{readable}-{crc32(model.encode()):08x}"


def _best(
    text: str, near: Sequence[Near], uses: dict[str, EventUse], k: int, now: float
) -> list[tuple[Event, EventUse, float]]:
    """The k best of those that are relevant; none if not one of them is near enough."""
    events, asked = [Event.from_json(one.document) for one in near], set(terms_of(text))
    shared = [len(asked & set(terms_of(event.search_text))) for event in events]
    rows = [uses[one.id] for one in near]
    lexical = np.array(shared, np.float32) / max(len(asked), 1)
    relevant = relevance(lexical, np.array([one.cosine for one in near], np.float32), EVENTS)
    if relevant.max(initial=0) < EVENTS.spark:
        return []
    age_s = np.array([now - use.created_at for use in rows], np.float32)
    heights = standing(relevant, np.zeros(len(near), np.float32), age_s, EVENTS)
    heights += served(np.array([use.useful for use in rows], np.float32), EVENTS)
    order = [place for place in np.argsort(-heights, kind="stable") if relevant[place] >= EVENTS.floor]
    return [(events[place], rows[place], round(float(heights[place]), 4)) for place in order[:k]]
