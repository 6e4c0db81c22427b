"""Episodes: the search index rows of a soul's messages. The package `memory` searches and ranks them."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Row, Select, and_, bindparam, func, select

from soulgraph.senses.tokenizer import fingerprints
from soulgraph.stores import schema
from soulgraph.stores.records import Episode, Json, Message, NewMessage
from soulgraph.stores.repository import Repository, dialect_insert

_uses, _vectors = schema.episode_uses, schema.episode_vectors
_BATCH = 100


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message, and how often a reply used it."""

    message: Message
    useful: int


class Episodes(Repository[Episode]):
    table = schema.episodes
    record = Episode

    async def add(self, soul_id: str, previous_id: int | None, messages: Sequence[tuple[int, NewMessage]]) -> None:
        """Index consecutive messages of one session, given as (message_id, message).

        `previous_id` is the message before the first of them, None at the beginning of a session.
        """
        ids = [previous_id, *(message_id for message_id, _ in messages)]
        for start in range(0, len(messages), _BATCH):
            batch = zip(messages[start : start + _BATCH], ids[start:], strict=False)
            await self._add(*(_row(soul_id, before, *message) for message, before in batch))
            if len(messages) > _BATCH:
                await asyncio.sleep(0)  # during a long import the event loop serves others between batches

    async def after(self, soul_id: str, message_id: int = 0, model: str = "") -> list[Episode]:
        """The soul's episodes with an id above `message_id`, oldest first, with their vectors of this model."""
        return await self._read(self._after(), soul_id=soul_id, after=message_id, model=model)

    async def before(self, soul_id: str, message_id: int, limit: int, model: str = "") -> list[Episode]:
        """The last `limit` episodes of the soul with an id below `message_id`, newest first."""
        return await self._read(self._before(), soul_id=soul_id, before=message_id, limit=limit, model=model)

    async def _read(self, query: Select[Any], **values: Any) -> list[Episode]:
        """Fetch all rows at once, which is faster than iterating: a soul may have a hundred thousand."""
        return [self._record(row) for row in (await self._connection.execute(query, values)).all()]

    async def messages(self, soul_id: str, message_ids: Collection[int]) -> dict[int, StoredMessage]:
        """The messages with these ids by id; ids that are unknown or of another soul are left out."""
        if not message_ids:
            return {}
        rows = await self._connection.execute(self._messages(), {"soul_id": soul_id, "ids": sorted(message_ids)})
        return {row.message_id: _stored_message(row) for row in rows}

    async def recalled(self, message_ids: Collection[int], now: float) -> None:
        """Count one more recall of each message, at `now`."""
        initial = {"recalled": 1, "useful": 0, "last_recalled_at": now}
        await self._count(message_ids, initial, {"recalled": _uses.c.recalled + 1, "last_recalled_at": now})

    async def useful(self, message_ids: Collection[int]) -> None:
        """Count one more reply that used each message."""
        initial = {"recalled": 0, "useful": 1, "last_recalled_at": None}
        await self._count(message_ids, initial, {"useful": _uses.c.useful + 1})

    async def _count(self, message_ids: Collection[int], initial: Json, update: Json) -> None:
        """Insert the `initial` row of each message, or apply `update` if it has one.

        An id that occurs twice counts twice; messages that were deleted meanwhile are left out.
        """
        query = select(self.table.c.message_id).where(self.table.c.message_id.in_(set(message_ids)))
        existing = set((await self._connection.execute(query)).scalars())
        # Rows are locked in the order of their ids, so that two transactions that count never deadlock.
        rows = [{"message_id": message_id, **initial} for message_id in sorted(message_ids) if message_id in existing]
        if rows:
            statement = dialect_insert(_uses, self._connection.dialect.name)
            upsert = statement.on_conflict_do_update(index_elements=["message_id"], set_=update)
            await self._connection.execute(upsert, rows)

    @classmethod
    @cache
    def _after(cls) -> Select[Any]:
        return cls._with_vectors(cls.table.c.message_id > bindparam("after"), cls.table.c.message_id.asc())

    @classmethod
    @cache
    def _before(cls) -> Select[Any]:
        message_id = cls.table.c.message_id
        return cls._with_vectors(message_id < bindparam("before"), message_id.desc(), bindparam("limit"))

    @classmethod
    def _with_vectors(cls, where: Any, order: Any, limit: Any = None) -> Select[Any]:
        """Columns in the order of the record's fields.

        Vectors are joined after the limit: otherwise PostgreSQL may sort all of the soul's vectors.
        """
        names = [name for name in Episode.__dataclass_fields__ if name != "vector"]
        own = select(*[cls.table.c[name] for name in names]).where(cls.table.c.soul_id == bindparam("soul_id"), where)
        page = own.order_by(order).limit(limit).subquery()
        same_message = and_(_vectors.c.message_id == page.c.message_id, _vectors.c.model == bindparam("model"))
        joined = select(*page.c, _vectors.c.vector).select_from(page.outerjoin(_vectors, same_message))
        return joined.order_by(page.c.message_id.desc() if limit is not None else page.c.message_id)

    @classmethod
    @cache
    def _messages(cls) -> Select[Any]:
        message, own = schema.messages.c, cls.table.c
        columns = [message[name] for name in Message.__dataclass_fields__]
        joined = cls.table.join(schema.messages, message.message_id == own.message_id)
        joined = joined.outerjoin(_uses, _uses.c.message_id == own.message_id)
        query = select(*columns, func.coalesce(_uses.c.useful, 0)).select_from(joined)
        return query.where(own.soul_id == bindparam("soul_id"), own.message_id.in_(bindparam("ids", expanding=True)))


def _stored_message(row: Row[Any]) -> StoredMessage:
    fields: list[Any] = list(row)
    return StoredMessage(Message(*fields[:-1]), fields[-1])


def _row(soul_id: str, previous_id: int | None, message_id: int, message: NewMessage) -> Json:
    return {
        "message_id": message_id,
        "soul_id": soul_id,
        "previous_id": previous_id,
        "by_user": message.role == "user",
        "at": message.created_at,
        "terms": fingerprints(message.content),
    }
