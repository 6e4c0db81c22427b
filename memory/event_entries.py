"""Events as the database has them; those from before are brought into its form first."""

from collections.abc import Collection

from soulgraph.memory.chroma import EventCollection
from soulgraph.memory.event import Event, audience_of
from soulgraph.memory.upkeep import Entry
from soulgraph.stores.stores import Stores, Transaction

_AT_ONCE = 200
_NOBODY = audience_of("", [])


class EventEntries:
    name = "events"

    def __init__(self, vault: EventCollection, stores: Stores) -> None:
        self._vault = vault
        self._stores = stores
        self._all_tagged = False
        self._all_kept = False

    async def page(self, after: str, limit: int) -> list[Entry]:
        await self.tag_all()
        await self._keep_all()
        async with self._stores.read() as tx:
            return [_entry(*event) for event in await tx.events.kept(after, limit)]

    async def get(self, event_ids: Collection[str]) -> list[Entry]:
        async with self._stores.read() as tx:
            uses = await tx.events.uses(event_ids)
            documents = await tx.events.documents(event_ids)
        whole = [(one.event_id, one.audience, documents.get(one.event_id)) for one in uses.values()]
        return [_entry(key, audience, document) for key, audience, document in whole if document and audience]

    async def there(self, event_ids: Collection[str]) -> set[str]:
        async with self._stores.read() as tx:
            return {*await tx.events.uses(event_ids)}

    async def count_lost(self) -> int:
        async with self._stores.read() as tx:
            return await tx.events.count_unkept()

    async def tag_all(self) -> None:
        """Give events from before audiences theirs, in Chroma and then in the database; a crash repeats some of it."""
        while not self._all_tagged:
            async with self._stores.read() as tx:
                untagged = await tx.events.without_audience(_AT_ONCE)
                audiences = {event_id: await _first_audience(tx, event_id) for event_id in untagged}
            if not audiences:
                self._all_tagged = True
                return
            await self._vault.tag({event_id: {"audience": audience} for event_id, audience in audiences.items()})
            async with self._stores.write() as tx:
                for event_id, audience in audiences.items():
                    await tx.events.admit(event_id, audience)

    async def _keep_all(self) -> None:
        """Store events that only Chroma has; what it does not have either is lost."""
        after = ""
        while not self._all_kept:
            async with self._stores.read() as tx:
                unkept = await tx.events.unkept(after, _AT_ONCE)
            if not unkept:
                self._all_kept = True
                return
            documents = await self._vault.get(unkept)
            async with self._stores.write() as tx:
                await tx.events.keep(documents)
            after = unkept[-1]


def _entry(event_id: str, audience: str, document: str) -> Entry:
    return Entry(event_id, document, Event.from_json(document).search_text, {"audience": audience})


async def _first_audience(tx: Transaction, event_id: str) -> str:
    """The soul and the person that an event was first drawn from; nobody if that is not known any more."""
    origin = next(iter(await tx.events.provenance(event_id)), None)
    session = await tx.sessions.find(origin.session_id) if origin else None
    return audience_of(origin.soul_id, [session.user_id]) if origin and session else _NOBODY
