"""Episodes: what was said to and by a soul, made findable. What searches and ranks them is in `memory`."""

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
    """A message as it was said, with how often it served a reply."""

    message: Message
    useful: int


class Episodes(Repository[Episode]):
    table = schema.episodes
    record = Episode

    async def add(self, soul_id: str, previous_id: int | None, said: Sequence[tuple[int, NewMessage]]) -> None:
        """Index messages of one session, each with its id, that follow each other and the previous one."""
        ids = [previous_id, *(message_id for message_id, _ in said)]
        for start in range(0, len(said), _BATCH):
            batch = zip(said[start : start + _BATCH], ids[start:], strict=False)
            await self._add(*(_row(soul_id, before, *one) for one, before in batch))
            if len(said) > _BATCH:
                await asyncio.sleep(0)  # a long import lets others speak meanwhile

    async def after(self, soul_id: str, message_id: int = 0, model: str = "") -> list[Episode]:
        """The soul's episodes with an id above this one, oldest first, with their vectors of this model."""
        return await self._read(self._after(), soul_id=soul_id, after=message_id, model=model)

    async def before(self, soul_id: str, message_id: int, limit: int, model: str = "") -> list[Episode]:
        """The last of those with an id below this one, newest first."""
        return await self._read(self._before(), soul_id=soul_id, before=message_id, limit=limit, model=model)

    async def _read(self, query: Select[Any], **values: Any) -> list[Episode]:
        """All rows at once: a soul may have a hundred thousand."""
        return [self._record(row) for row in (await self._connection.execute(query, values)).all()]

    async def messages(self, soul_id: str, message_ids: Collection[int]) -> dict[int, StoredMessage]:
        """Those of the messages that are this soul's."""
        if not message_ids:
            return {}
        rows = await self._connection.execute(self._told(), {"soul_id": soul_id, "ids": sorted(message_ids)})
        return {row.message_id: _as_told(row) for row in rows}

    async def recalled(self, message_ids: Collection[int], now: float) -> None:
        """Each of them came to the soul's mind once more; `now` is when it last did."""
        first = {"recalled": 1, "useful": 0, "last_recalled_at": now}
        await self._count(message_ids, first, {"recalled": _uses.c.recalled + 1, "last_recalled_at": now})

    async def useful(self, message_ids: Collection[int]) -> None:
        """Each of them served a reply once more."""
        first = {"recalled": 0, "useful": 1, "last_recalled_at": None}
        await self._count(message_ids, first, {"useful": _uses.c.useful + 1})

    async def _count(self, message_ids: Collection[int], first: Json, more: Json) -> None:
        """Each as often as it is named. Those that were deleted since they were found are left out.

        Always in the order of their ids, so that no two who count wait for each other.
        """
        known = select(self.table.c.message_id).where(self.table.c.message_id.in_(set(message_ids)))
        there = set((await self._connection.execute(known)).scalars())
        rows = [{"message_id": message_id, **first} for message_id in sorted(message_ids) if message_id in there]
        if rows:
            new = dialect_insert(_uses, self._connection.dialect.name)
            counted = new.on_conflict_do_update(index_elements=["message_id"], set_=more)
            await self._connection.execute(counted, rows)

    @classmethod
    @cache
    def _after(cls) -> Select[Any]:
        return cls._with_vectors(cls.table.c.message_id > bindparam("after"), cls.table.c.message_id.asc())

    @classmethod
    @cache
    def _before(cls) -> Select[Any]:
        earlier, newest_first = cls.table.c.message_id < bindparam("before"), cls.table.c.message_id.desc()
        return cls._with_vectors(earlier, newest_first, bindparam("limit"))

    @classmethod
    def _with_vectors(cls, which: Any, order: Any, limit: Any = None) -> Select[Any]:
        """As the record has its fields. Vectors are joined to the page alone: PostgreSQL may else sort all of them."""
        names = [name for name in Episode.__dataclass_fields__ if name != "vector"]
        own = select(*[cls.table.c[name] for name in names]).where(cls.table.c.soul_id == bindparam("soul_id"), which)
        page = own.order_by(order).limit(limit).subquery()
        of_it = and_(_vectors.c.message_id == page.c.message_id, _vectors.c.model == bindparam("model"))
        joined = select(*page.c, _vectors.c.vector).select_from(page.outerjoin(_vectors, of_it))
        return joined.order_by(page.c.message_id.desc() if limit is not None else page.c.message_id)

    @classmethod
    @cache
    def _told(cls) -> Select[Any]:
        message, own = schema.messages.c, cls.table.c
        columns = [message[name] for name in Message.__dataclass_fields__]
        joined = cls.table.join(schema.messages, message.message_id == own.message_id)
        joined = joined.outerjoin(_uses, _uses.c.message_id == own.message_id)
        query = select(*columns, func.coalesce(_uses.c.useful, 0)).select_from(joined)
        return query.where(own.soul_id == bindparam("soul_id"), own.message_id.in_(bindparam("ids", expanding=True)))


def _as_told(row: Row[Any]) -> StoredMessage:
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
