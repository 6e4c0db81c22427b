"""Episodes: the search index rows of a soul's messages. The package `memory` searches and ranks them."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import cache
from typing import Any, Literal

from sqlalchemy import Integer, Row, Select, String, and_, bindparam, func, select, union_all

from soulgraph.senses.tokenizer import MAX_CHARS, fingerprints, text_size
from soulgraph.senses.values.time_terms import time_terms
from soulgraph.soul.people import may_know, others
from soulgraph.stores import schema
from soulgraph.stores.columns import is_shared
from soulgraph.stores.database import Connection
from soulgraph.stores.facts import Facts
from soulgraph.stores.records import Episode, Json, Message, NewMessage
from soulgraph.stores.repository import Repository, dialect_insert, padded
from soulgraph.stores.vectors import stored_messages

_uses, _vectors = schema.episode_uses, schema.episode_vectors
_BATCH = 100

Audience = Collection[str] | None
"""The people who hear what is recalled; None for an owner, who may see everything."""
Whose = Literal["everybody's", "own or shared", "shared"]


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message, how often a reply used it, and with whom it is shared."""

    message: Message
    useful: int
    shared_with: tuple[str, ...] = ()

    def known_to(self, audience: Audience) -> bool:
        return audience is None or may_know(audience, self.message.user_id, self.shared_with)


class Episodes(Repository[Episode]):
    table = schema.episodes
    record = Episode

    def __init__(self, connection: Connection, zone: tzinfo | None = UTC) -> None:
        super().__init__(connection)
        self._zone = zone

    async def add(self, previous_id: int | None, messages: Sequence[tuple[int, NewMessage]]) -> None:
        """Index consecutive messages of one session, given as (message_id, message), for every soul that was present.

        `previous_id` is the message before the first of them, None at the beginning of a session.
        """
        ids = [previous_id, *(message_id for message_id, _ in messages)]
        for start in range(0, len(messages), _BATCH):
            batch = zip(messages[start : start + _BATCH], ids[start:], strict=False)
            await self._add(*(row for message, before in batch for row in _rows_of(before, *message, self._zone)))
            if len(messages) > _BATCH:
                await asyncio.sleep(0)  # during a long import the event loop serves others between batches

    async def correct(self, message: Message, content: str) -> None:
        """Index other words for a message, for every soul that was present."""
        await self._set({"message_id": message.message_id}, **index_columns(content, message.created_at, self._zone))

    async def follow(self, message_id: int, previous_id: int | None) -> None:
        """Let a message follow another one than before."""
        await self._set({"message_id": message_id}, previous_id=previous_id)

    async def after(
        self, soul_id: str, audience: Audience = None, message_id: int = 0, model: str = ""
    ) -> list[Episode]:
        """The soul's episodes with an id above `message_id`, oldest first, with their vectors of this model.

        For one person these are their own and all that are shared, for several people those that are shared: whether
        the whole audience may know of one is the caller's to say. Without an audience they are everybody's.
        """
        query = self._after(_whose(audience))
        return await self._read(query, audience, soul_id=soul_id, after=message_id, model=model)

    async def before(
        self, soul_id: str, audience: Audience, message_id: int, limit: int, model: str = ""
    ) -> list[Episode]:
        """The last `limit` of the same with an id below `message_id`, newest first."""
        query = self._before(_whose(audience))
        return await self._read(query, audience, soul_id=soul_id, before=message_id, limit=limit, model=model)

    async def _read(self, query: Select[Any], audience: Audience, **values: Any) -> list[Episode]:
        """Fetch all rows at once, which is faster than iterating: a soul may have a hundred thousand."""
        person = {"person": next(iter(audience))} if audience else {}
        return [self._record(row) for row in (await self._connection.execute(query, values | person)).all()]

    async def messages(
        self, soul_id: str, message_ids: Collection[int], audience: Audience = None
    ) -> dict[int, StoredMessage]:
        """The messages with these ids by id.

        Ids that are unknown or of another soul, or of which not all of the audience may know, are left out.
        """
        if not message_ids:
            return {}
        rows = await self._connection.execute(self._messages(), {"soul_id": soul_id, "ids": padded(message_ids)})
        found = {row.message_id: _stored_message(row) for row in rows}
        return {id_: one for id_, one in found.items() if one.known_to(audience)}

    async def share(self, soul_id: str, message_id: int, user_id: str, shared_with: Collection[str]) -> bool:
        """Set who may know of this person's message beside them, and of what was drawn from it; False if not theirs."""
        keys = {"message_id": message_id, "soul_id": soul_id, "user_id": user_id}
        people = others(user_id, shared_with)
        await Facts(self._connection).share_with(soul_id, message_id, people)
        return await self._set(keys, shared_with=people)

    async def shared(self, soul_id: str) -> list[StoredMessage]:
        """All messages of the soul that are shared with somebody, oldest first."""
        query = self._messages_of_soul().where(is_shared(self.table)).order_by(self.table.c.message_id)
        return [_stored_message(row) for row in await self._connection.execute(query, {"soul_id": soul_id})]

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
        existing = await stored_messages(self._connection, {*message_ids})
        # Rows are locked in the order of their ids, so that two transactions that count never deadlock.
        rows = [{"message_id": message_id, **initial} for message_id in sorted(message_ids) if message_id in existing]
        if rows:
            statement = dialect_insert(_uses, self._connection.dialect.name)
            upsert = statement.on_conflict_do_update(index_elements=["message_id"], set_=update)
            await self._connection.execute(upsert, rows)

    @classmethod
    @cache
    def _after(cls, whose: Whose) -> Select[Any]:
        after = cls.table.c.message_id > bindparam("after")
        return cls._with_vectors(cls._union([part.where(after) for part in cls._parts(whose)]))

    @classmethod
    @cache
    def _before(cls, whose: Whose) -> Select[Any]:
        """Each part is limited, so that no more than a page of it is read; then their union is."""
        message_id = cls.table.c.message_id
        limit = bindparam("limit", type_=Integer)
        older = [part.where(message_id < bindparam("before")) for part in cls._parts(whose)]
        union = cls._union([part.order_by(message_id.desc()).limit(limit) for part in older])
        return cls._with_vectors(
            union.order_by(union.selected_columns.message_id.desc()).limit(limit), newest_first=True
        )

    @classmethod
    def _parts(cls, whose: Whose) -> list[Select[Any]]:
        """Selects of episodes, without their vectors, of which none is in two parts: each has an index of its own."""
        episode = cls.table.c
        fields = [episode[name] for name in Episode.__dataclass_fields__ if name != "vector"]
        of_soul = select(*fields).where(episode.soul_id == bindparam("soul_id"))
        if whose == "everybody's":
            return [of_soul]
        shared = of_soul.where(is_shared(cls.table))
        if whose == "shared":
            return [shared]
        person = bindparam("person", type_=String)
        return [of_soul.where(episode.user_id == person), shared.where(episode.user_id != person)]

    @classmethod
    def _union(cls, parts: Sequence[Select[Any]]) -> Select[Any]:
        subqueries = [select(part.subquery()) for part in parts]
        return select(union_all(*subqueries).subquery()) if len(parts) > 1 else subqueries[0]

    @classmethod
    def _with_vectors(cls, episodes: Select[Any], newest_first: bool = False) -> Select[Any]:
        """Columns in the order of the record's fields.

        Vectors are joined after the limit: otherwise PostgreSQL may sort all of the soul's vectors.
        """
        page = episodes.subquery()
        same_message = and_(
            _vectors.c.message_id == page.c.message_id,
            _vectors.c.soul_id == bindparam("soul_id"),
            _vectors.c.model == bindparam("model"),
        )
        joined = select(*page.c, _vectors.c.vector).select_from(page.outerjoin(_vectors, same_message))
        return joined.order_by(page.c.message_id.desc() if newest_first else page.c.message_id)

    @classmethod
    @cache
    def _messages(cls) -> Select[Any]:
        return cls._messages_of_soul().where(cls.table.c.message_id.in_(bindparam("ids", expanding=True)))

    @classmethod
    @cache
    def _messages_of_soul(cls) -> Select[Any]:
        message, own = schema.messages.c, cls.table.c
        columns = [message[name] for name in Message.__dataclass_fields__]
        joined = cls.table.join(schema.messages, message.message_id == own.message_id)
        joined = joined.outerjoin(_uses, _uses.c.message_id == own.message_id)
        query = select(*columns, func.coalesce(_uses.c.useful, 0), own.shared_with).select_from(joined)
        return query.where(own.soul_id == bindparam("soul_id"))


def _whose(audience: Audience) -> Whose:
    """Which episodes an audience may know of; nothing that is private is known to two."""
    if audience is None:
        return "everybody's"
    return "own or shared" if len({*audience}) == 1 else "shared"


def _stored_message(row: Row[Any]) -> StoredMessage:
    fields: list[Any] = list(row)
    return StoredMessage(Message(*fields[:-2]), *fields[-2:])


def index_columns(content: str, said_at: float, zone: tzinfo | None) -> Json:
    """What a message is found by: its terms, the days it speaks of, how long it is, and whether it asks or dates."""
    days = time_terms(content[:MAX_CHARS], datetime.fromtimestamp(said_at, zone).replace(tzinfo=None))
    return {
        "terms": fingerprints(content, *days),
        "size": text_size(content),
        "asks": content.rstrip().endswith(("?", "？")),
        "dated": bool(days),
    }


def _rows_of(previous_id: int | None, message_id: int, message: NewMessage, zone: tzinfo | None) -> list[Json]:
    row = {
        "message_id": message_id,
        "previous_id": previous_id,
        "by_user": message.role == "user",
        "at": message.created_at,
        **(message.indexed or index_columns(message.content, message.created_at, zone)),
        "user_id": message.user_id,
        "shared_with": others(message.user_id, (*message.people, *message.shared_with)),
    }
    return [{**row, "soul_id": soul_id} for soul_id in dict.fromkeys((message.soul_id, *message.souls))]
