"""The embedding of each message, in half precision, with the model it is from: only vectors of one model compare."""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Select, and_, bindparam, func, select

from soulgraph.stores import schema
from soulgraph.stores.database import Connection
from soulgraph.stores.records import EpisodeVector
from soulgraph.stores.repository import Repository, fields_of


async def stored_messages(connection: Connection, message_ids: Collection[int]) -> set[int]:
    """Those of these messages that exist; nobody deletes them before the transaction ends."""
    row = schema.messages.c
    query = select(row.message_id).where(row.message_id.in_(sorted(message_ids))).order_by(row.message_id)
    # In the order of their ids, so that two transactions never wait for each other.
    return set((await connection.execute(query.with_for_update(read=True, key_share=True))).scalars())


class EpisodeVectors(Repository[EpisodeVector]):
    table = schema.episode_vectors
    record = EpisodeVector

    async def put(self, vectors: Sequence[EpisodeVector]) -> None:
        """Store vectors; those of messages that were deleted meanwhile are left out."""
        stored = await stored_messages(self._connection, {vector.message_id for vector in vectors})
        await self._put_all([fields_of(vector) for vector in vectors if vector.message_id in stored])

    async def delete(self, message_id: int) -> None:
        """Delete the vectors of a message, of every model and soul."""
        await self._remove(message_id=message_id)

    async def after(self, soul_id: str, model: str, message_id: int, limit: int) -> list[tuple[int, bytes]]:
        """(message_id, vector) of the soul's messages with an id above `message_id`, oldest first."""
        values = {"soul_id": soul_id, "model": model, "message_id": message_id, "limit": limit}
        rows = await self._connection.execute(self._after(), values)
        return [tuple(row) for row in rows]

    async def count_missing(self, soul_id: str, model: str) -> int:
        """How many of the soul's messages have no vector of this model."""
        episodes, vectors = schema.episodes, self.table
        there = select(func.count()).select_from(episodes).where(episodes.c.soul_id == soul_id).scalar_subquery()
        found = select(func.count()).select_from(vectors).where(vectors.c.soul_id == soul_id, vectors.c.model == model)
        return int((await self._connection.execute(select(there - found.scalar_subquery()))).scalar())

    async def missing(self, model: str, after: int, until: int, limit: int = 500) -> list[tuple[int, str, str]]:
        """(message_id, soul_id, content) of messages without a vector of this model, with `after` < id <= `until`."""
        values = {"model": model, "after": after, "until": until, "limit": limit}
        rows = await self._connection.execute(self._missing(), values)
        return [(row.message_id, row.soul_id, row.content) for row in rows]

    async def last_message(self) -> int:
        """The id of the newest message of all souls, 0 if there is none."""
        newest: int | None = (await self._connection.execute(select(func.max(schema.episodes.c.message_id)))).scalar()
        return newest or 0

    @classmethod
    @cache
    def _after(cls) -> Select[Any]:
        vector = cls.table.c
        later = select(vector.message_id, vector.vector).where(
            vector.soul_id == bindparam("soul_id"),
            vector.model == bindparam("model"),
            vector.message_id > bindparam("message_id"),
        )
        return later.order_by(vector.message_id).limit(bindparam("limit"))

    @classmethod
    @cache
    def _missing(cls) -> Select[Any]:
        episode, message = schema.episodes.c, schema.messages.c
        has_vector = and_(
            cls.table.c.message_id == episode.message_id,
            cls.table.c.soul_id == episode.soul_id,
            cls.table.c.model == bindparam("model"),
        )
        joined = schema.episodes.join(schema.messages, message.message_id == episode.message_id)
        query = select(episode.message_id, episode.soul_id, message.content).select_from(
            joined.outerjoin(cls.table, has_vector)
        )
        in_range = and_(episode.message_id > bindparam("after"), episode.message_id <= bindparam("until"))
        without = query.where(in_range, cls.table.c.message_id.is_(None))
        return without.order_by(episode.message_id).limit(bindparam("limit"))
