"""Events as a source of recall: everyone's, and those that are private to the soul and exactly these people."""

from collections.abc import Collection
from dataclasses import dataclass

from soulgraph.memory.events import Event, EventLibrary, audience_of
from soulgraph.memory.source import Query
from soulgraph.soul.people import EVERYONE
from soulgraph.stores.records import EventUse
from soulgraph.stores.stores import Transaction


@dataclass(frozen=True, slots=True)
class RecalledEvent:
    event: Event
    use: EventUse
    score: float

    @property
    def source_id(self) -> str:
        return self.event.event_id


@dataclass(frozen=True, slots=True)
class EventSource:
    library: EventLibrary
    kind: str = "event"

    async def search(self, query: Query) -> list[RecalledEvent]:
        if query.vector is None:
            return []
        audience = query.audience
        audiences = None if audience is None else (EVERYONE, audience_of(query.soul_id, audience))
        ranked = await self.library.ranked(query.text, query.k, query.vector, audiences)
        return [RecalledEvent(*found) for found in ranked]

    async def texts(self, soul_id: str, ids: Collection[str]) -> dict[str, str]:
        return {event.event_id: event.search_text for event in await self.library.find_all(ids)}

    async def note_use(self, tx: Transaction, recalled: Collection[str], useful: Collection[str], now: float) -> None:
        await tx.events.recalled(list(recalled), now)
        await tx.events.useful(list(useful))
