"""The event library: experiences in general words. Those that tell of nobody are for all souls, the others private.

SQL holds the events with their audience, uses, merges, and which session each came from. Chroma finds them: it has the
same events with their vectors and audience, and can be built anew.
"""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np

from soulgraph.errors import NotFound
from soulgraph.memory.chroma import (
    EventCollection,
    NearDocument,
    StoredDocument,
    collection_name,
    open_collection,
)
from soulgraph.memory.event import Event, Pattern, audience_of
from soulgraph.memory.event_entries import EventEntries
from soulgraph.memory.ranking import EVENTS, Floats, rank_texts
from soulgraph.memory.upkeep import Upkeep
from soulgraph.senses.ports import Embedder
from soulgraph.soul.people import EVERYONE
from soulgraph.stores.records import EventUse, Provenance
from soulgraph.stores.stores import Stores

__all__ = ["Event", "EventLibrary", "Pattern", "audience_of", "open_events"]

DUPLICATE = 0.95
"""The cosine from which two events count as the same."""

_CANDIDATES = 24  # more than k, because terms, age and uses reorder what is nearest by vector


class EventLibrary:
    def __init__(self, vault: EventCollection, stores: Stores, embedder: Embedder, clock: Callable[[], float]) -> None:
        self._vault = vault
        self._stores = stores
        self._embedder = embedder
        self._clock = clock
        self._has_events = False
        self._entries = EventEntries(vault, stores)
        self.upkeep = Upkeep(vault, embedder, self._entries)

    async def add(self, event: Event, session_id: str, soul_id: str, message_ids: Sequence[int], audience: str) -> str:
        """Store an event, or merge it into one that is almost the same; returns the id that is kept.

        `audience` is everyone, or as `audience_of` writes it. The messages it was drawn from are archived together with
        the catalogue entry, after Chroma has the event. It is safe to add an event again after a failure: what was
        stored already is recognised by its id. Raises NotFound if the session was deleted meanwhile.
        """
        await self._entries.tag_all()
        kept = await self._store(event, audience)
        now = self._clock()
        async with self._stores.write() as tx:
            await tx.sessions.get(session_id)  # it may have been deleted while the event was drawn
            await tx.events.add(kept, now, audience, event.to_json() if kept == event.event_id else None)
            if kept == event.event_id:
                await tx.events.admit(kept, audience)
            else:
                await tx.events.merged(kept)
            await tx.events.trace(Provenance(kept, session_id, soul_id, list(message_ids), now))
            await tx.messages.archive(message_ids)
        return kept

    async def _store(self, event: Event, audience: str) -> str:
        """Put the event into Chroma unless it, or a duplicate, is there; returns the id under which it is found.

        Duplicates are looked for only among what the event's audience may recall: to be merged into what others alone
        can see would lose it.
        """
        owner = {"audience": audience}
        if await self.find(event.event_id):
            await self._vault.tag({event.event_id: owner})
            return event.event_id
        vector = (await self._embedder.embed([event.search_text]))[0]
        nearest = next(iter(await self._vault.near(vector, 1, _for_any({EVERYONE, audience}))), None)
        if nearest and nearest.cosine >= DUPLICATE:
            return nearest.id
        await self._vault.put({event.event_id: event.to_json()}, vector[None], owner)
        return event.event_id

    async def find(self, event_id: str) -> Event | None:
        document = (await self._vault.get([event_id])).get(event_id)
        return Event.from_json(document) if document else None

    async def find_all(self, event_ids: Collection[str]) -> list[Event]:
        """Those of these events that are there, by their ids. Chroma is not needed but for events from before."""
        async with self._stores.read() as tx:
            known = await tx.events.documents(event_ids) if event_ids else {}
        documents = {event_id: document for event_id, document in known.items() if document is not None}
        documents |= await self._vault.get(known.keys() - documents.keys())
        return [Event.from_json(documents[event_id]) for event_id in sorted(documents)]

    async def restore(self, events: Sequence[Event], audience: str) -> None:
        """Put back events as they were elsewhere, for one audience; the caller stores their catalogue entries."""
        if events:
            vectors = await self._embedder.embed([event.search_text for event in events])
            documents = {event.event_id: event.to_json() for event in events}
            await self._vault.put(documents, vectors, {"audience": audience})

    async def discard(self, event_ids: Collection[str]) -> None:
        """Take back events whose catalogue entries could not be stored."""
        await self._vault.delete(sorted(event_ids))

    async def dump(self, event_ids: Collection[str]) -> list[StoredDocument]:
        """These events with their vectors, for a backup."""
        return await self.upkeep.dump(event_ids)

    async def get(self, event_id: str) -> Event:
        event = await self.find(event_id)
        if event is None:
            raise NotFound("event", event_id)
        return event

    async def page(
        self, limit: int, offset: int = 0, audiences: Collection[str] | None = None
    ) -> list[tuple[Event, EventUse]]:
        """Events with their catalogue entries, the newest first; those for one of the audiences, or all."""
        await self._entries.tag_all()
        async with self._stores.read() as tx:
            uses = await tx.events.page(limit, offset, audiences)
        documents = await self._vault.get([use.event_id for use in uses])
        return [(Event.from_json(documents[use.event_id]), use) for use in uses if use.event_id in documents]

    async def search(
        self, text: str, k: int, vector: Floats | None = None, audiences: Collection[str] | None = None
    ) -> list[tuple[Event, EventUse]]:
        """The k best events with their catalogue entries; empty when none is relevant."""
        return [(event, use) for event, use, _ in await self.ranked(text, k, vector, audiences)]

    async def ranked(
        self, text: str, k: int, vector: Floats | None = None, audiences: Collection[str] | None = None
    ) -> list[tuple[Event, EventUse, float]]:
        """Like `search`, with scores. `vector` is the text's, if the caller has computed it already.

        Without `audiences`, as for an owner, all events are searched.
        """
        if not await self._any_events():
            return []
        await self._entries.tag_all()
        if vector is None:
            vector = (await self._embedder.embed([text]))[0]
        found = await self._vault.near(vector, max(_CANDIDATES, 2 * k), _for_any(audiences))
        async with self._stores.read() as tx:
            uses = await tx.events.uses([document.id for document in found])
        # Chroma has an event a little earlier than the catalogue: one without an entry is being added right now.
        known = {key: use for key, use in uses.items() if audiences is None or use.audience in audiences}
        return _best(text, [document for document in found if document.id in known], known, k, self._clock())

    async def _any_events(self) -> bool:
        """Whether there was ever an event: Chroma takes a second to open, and an empty library needs none of it."""
        if not self._has_events:
            async with self._stores.read() as tx:
                self._has_events = await tx.events.any()
        return self._has_events

    async def delete(self, event_id: str) -> None:
        await self.get(event_id)
        await self._remove([event_id])

    async def forget_session(self, session_id: str) -> list[str]:
        """Remove the events that came from this session alone, and its provenance from the others.

        Returns the ids of the removed events.
        """
        async with self._stores.read() as tx:
            removed = await tx.events.drawn_only_from(session_id)
        await self._remove(removed)
        async with self._stores.write() as tx:
            await tx.events.untrace(session_id)
        return removed

    async def tidy(self, most: int) -> list[str]:
        """Remove events beyond this number, the least recalled and then the oldest first; returns their ids."""
        async with self._stores.read() as tx:
            excess = await tx.events.count() - most
            removed = await tx.events.dispensable(excess) if excess > 0 else []
        await self._remove(removed)
        return removed

    async def _remove(self, event_ids: Sequence[str]) -> None:
        # From Chroma first: after a crash in between, the catalogue still has the ids and they can be removed again.
        await self._vault.delete(event_ids)
        async with self._stores.write() as tx:
            await tx.events.remove(event_ids)


@asynccontextmanager
async def open_events(
    stores: Stores, embedder: Embedder, clock: Callable[[], float], *, folder: Path, url: str = "", shared: str = ""
) -> AsyncIterator[EventLibrary]:
    """The library on the Chroma server at `url`, or embedded in `folder`, as `open_collection` takes them."""
    async with open_collection(collection_name(embedder.name), folder, url, shared) as vault:
        yield EventLibrary(vault, stores, embedder, clock)


def _for_any(audiences: Collection[str] | None) -> dict[str, Any] | None:
    """Chroma's condition for events of one of these audiences; None for no condition."""
    return None if audiences is None else {"audience": {"$in": sorted(audiences)}}


def _best(
    text: str, found: Sequence[NearDocument], uses: dict[str, EventUse], k: int, now: float
) -> list[tuple[Event, EventUse, float]]:
    """The k best of the relevant events, with their scores; empty if none is similar enough to the text."""
    events = [Event.from_json(document.document) for document in found]
    entries = [uses[document.id] for document in found]
    cosines = np.array([document.cosine for document in found], np.float32)
    age_s = np.array([now - use.created_at for use in entries], np.float32)
    useful = np.array([use.useful for use in entries], np.float32)
    ranked = rank_texts(text, [event.search_text for event in events], cosines, age_s, useful, EVENTS)
    return [(events[n], entries[n], score) for n, score in ranked[:k]]
