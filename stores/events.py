"""The event library in the database: the events, which sessions they came from, and how often they are used.

Chroma finds them by their meaning, and can be built anew from here.
"""

from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, select, update

from soulgraph.soul.people import EVERYONE
from soulgraph.stores import schema
from soulgraph.stores.records import EventUse, Provenance
from soulgraph.stores.repository import Repository, fields_of, padded

_provenance = schema.event_provenance


class EventCatalogue(Repository[EventUse]):
    table = schema.event_uses
    record = EventUse

    async def add(self, event_id: str, now: float, audience: str = EVERYONE, document: str | None = None) -> None:
        """Add an event unless it is there; without a `document` it stays in Chroma alone until `keep`."""
        use = EventUse(event_id, 0, 0, None, 0, now, audience)
        await self._put_new(**fields_of(use), document=document)

    async def documents(self, event_ids: Collection[str]) -> dict[str, str | None]:
        """The events by id; None for those that only Chroma has. Ids that are not there are left out."""
        columns = select(self.table.c.event_id, self.table.c.document)
        rows = await self._connection.execute(columns.where(self.table.c.event_id.in_(padded(event_ids))))
        return {row.event_id: row.document for row in rows}

    async def keep(self, documents: Mapping[str, str]) -> None:
        """Store events that only Chroma had."""
        for event_id, document in sorted(documents.items()):
            await self._set({"event_id": event_id}, document=document)

    async def unkept(self, after: str, limit: int) -> list[str]:
        """The ids, in their order and behind `after`, of events that only Chroma has."""
        unkept = self._ids().where(self.table.c.document.is_(None), self.table.c.event_id > after)
        query = unkept.order_by(self.table.c.event_id).limit(limit)
        return list((await self._connection.execute(query)).scalars())

    async def count_unkept(self) -> int:
        query = select(func.count()).select_from(self.table).where(self.table.c.document.is_(None))
        return int((await self._connection.execute(query)).scalar())

    async def kept(self, after: str, limit: int) -> list[tuple[str, str, str]]:
        """(id, audience, document) of events that are stored here, in the order of their ids, behind `after`."""
        columns = self.table.c
        query = select(columns.event_id, columns.audience, columns.document)
        whole = columns.document.is_not(None), columns.audience.is_not(None), columns.event_id > after
        rows: Any = await self._connection.execute(query.where(*whole).order_by(columns.event_id).limit(limit))
        return [tuple(row) for row in rows]

    async def without_audience(self, limit: int) -> list[str]:
        """The ids of events from before audiences, for which Chroma is still to be told."""
        untold = self._ids().where(self.table.c.audience.is_(None))
        return list((await self._connection.execute(untold.limit(limit))).scalars())

    async def admit(self, event_id: str, audience: str) -> None:
        """Set who may recall the event."""
        await self._set({"event_id": event_id}, audience=audience)

    async def trace(self, provenance: Provenance) -> None:
        """Store the session and messages that an event was made from."""
        await _Provenances(self._connection).put(provenance)

    async def provenance(self, event_id: str) -> list[Provenance]:
        return await _Provenances(self._connection).of(event_id)

    async def drawn_from(self, session_id: str) -> list[str]:
        """The ids of the events to which this session contributed."""
        query = select(_provenance.c.event_id).where(_provenance.c.session_id == session_id)
        return list((await self._connection.execute(query.order_by(_provenance.c.event_id))).scalars())

    async def drawn_since(self, session_id: str, at: float) -> int:
        """How many events this session has contributed to after this time."""
        since = _provenance.c.session_id == session_id, _provenance.c.created_at > at
        query = select(func.count()).select_from(_provenance).where(*since)
        return int((await self._connection.execute(query)).scalar())

    async def drawn_only_from(self, session_id: str) -> list[str]:
        """The ids of the events to which only this session contributed."""
        others = select(_provenance.c.event_id).where(_provenance.c.session_id != session_id)
        query = select(_provenance.c.event_id).where(
            _provenance.c.session_id == session_id, _provenance.c.event_id.not_in(others)
        )
        return list((await self._connection.execute(query.order_by(_provenance.c.event_id))).scalars())

    async def untrace(self, session_id: str) -> None:
        """Remove the session from the provenance of all events."""
        await self._connection.execute(delete(_provenance).where(_provenance.c.session_id == session_id))

    async def merged(self, event_id: str) -> None:
        """Count a near-duplicate that was merged into this event."""
        await self._count([event_id], merged=self.table.c.merged + 1)

    async def recalled(self, event_ids: Collection[str], now: float) -> None:
        await self._count(event_ids, recalled=self.table.c.recalled + 1, last_recalled_at=now)

    async def useful(self, event_ids: Collection[str]) -> None:
        await self._count(event_ids, useful=self.table.c.useful + 1)

    async def uses(self, event_ids: Collection[str]) -> dict[str, EventUse]:
        rows = await self._all(self._rows().where(self.table.c.event_id.in_(padded(event_ids))))
        return {row.event_id: row for row in rows}

    async def page(self, limit: int, offset: int = 0, audiences: Collection[str] | None = None) -> list[EventUse]:
        """The newest first; only those for one of the audiences, if any are given."""
        order = self.table.c.created_at.desc(), self.table.c.event_id
        rows = self._rows()
        if audiences is not None:
            rows = rows.where(self.table.c.audience.in_(sorted(audiences)))
        return await self._all(rows.order_by(*order).limit(limit).offset(offset))

    async def any(self) -> bool:
        return bool((await self._connection.execute(self._first_id())).all())

    @classmethod
    @cache
    def _first_id(cls) -> Select[Any]:
        return select(cls.table.c.event_id).limit(1)

    async def count(self) -> int:
        query = select(func.count()).select_from(self.table)
        return int((await self._connection.execute(query)).scalar())

    async def dispensable(self, limit: int) -> list[str]:
        """The ids of the events to delete first: the least recalled, and among those the oldest."""
        order = self.table.c.recalled, self.table.c.created_at, self.table.c.event_id
        return list((await self._connection.execute(self._ids().order_by(*order).limit(limit))).scalars())

    async def remove(self, event_ids: Collection[str]) -> None:
        for table in (_provenance, self.table):
            await self._connection.execute(delete(table).where(table.c.event_id.in_(sorted(event_ids))))

    def _ids(self) -> Select[Any]:
        return select(self.table.c.event_id)

    async def _count(self, event_ids: Collection[str], **values: Any) -> None:
        """Apply the new values to each event; an id that occurs twice counts twice."""
        if event_ids:
            statement = update(self.table).where(self.table.c.event_id == bindparam("key")).values(values)
            # Rows are locked in the order of their ids, so that two transactions that count never deadlock.
            await self._connection.execute(statement, [{"key": event_id} for event_id in sorted(event_ids)])


class _Provenances(Repository[Provenance]):
    table = _provenance
    record = Provenance

    async def put(self, provenance: Provenance) -> None:
        """Store the provenance; message ids stored before for this event and session are kept."""
        keys = {"event_id": provenance.event_id, "session_id": provenance.session_id}
        existing = await self._first(self._rows(*keys), **keys)
        stored_ids = existing.message_ids if existing else []
        ids = sorted({*stored_ids, *provenance.message_ids})
        await self._put(**(fields_of(provenance) | {"message_ids": ids}))

    async def of(self, event_id: str) -> list[Provenance]:
        order = self.table.c.created_at, self.table.c.session_id
        return await self._all(self._rows("event_id").order_by(*order), event_id=event_id)
