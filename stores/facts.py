"""Facts: what people have told, each with its evidence and its dates. What holds no more is kept as history."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, func, select, union_all, update

from soulgraph.errors import NotFound
from soulgraph.soul.people import may_know
from soulgraph.stores import schema_memory
from soulgraph.stores.columns import is_shared
from soulgraph.stores.memory import Preferences
from soulgraph.stores.records import Fact
from soulgraph.stores.repository import Repository, fields_of

Audience = Collection[str] | None


class Stamp(NamedTuple):
    """What of a soul's facts changes with any of them."""

    facts: int
    updated_at: float | None
    with_vector: int


def _renamed(text: str, name: str, other: str) -> str:
    """The text with another name in its place; not within a word, of which a short one may be a part."""
    return other.join(re.split(rf"(?<![a-zA-Z]){re.escape(name)}(?![a-zA-Z])", text))


class Facts(Repository[Fact]):
    """Lists are in the order in which the facts were told."""

    table = schema_memory.facts
    record = Fact

    async def of(self, soul_id: str, user_id: str) -> list[Fact]:
        """The person's own, also those that hold no more."""
        return _in_order(await self._all(self._rows("soul_id", "user_id"), soul_id=soul_id, user_id=user_id))

    async def all(self, soul_id: str) -> list[Fact]:
        """Everybody's."""
        return _in_order(await self._all(self._rows("soul_id"), soul_id=soul_id))

    async def known_to(self, soul_id: str, audience: Audience) -> list[Fact]:
        """All of which the whole audience may know; without one everybody's.

        One that was superseded by what they may not know is told as if it held: else they would learn of the change.
        """
        if audience is None:
            return await self.all(soul_id)
        rows = await self._all(self._own_or_shared(), soul_id=soul_id, user_id=min(audience))
        known = [fact for fact in rows if may_know(audience, fact.user_id, fact.shared_with)]
        return _in_order(as_known(known))

    async def get(self, soul_id: str, fact_id: str) -> Fact:
        fact = await self._first(self._rows("soul_id", "fact_id"), soul_id=soul_id, fact_id=fact_id)
        if fact is None:
            raise NotFound("fact", fact_id)
        return fact

    async def put(self, fact: Fact) -> None:
        """Store the fact; other words than before lose their vector."""
        before = await self._first(self._rows("soul_id", "fact_id"), soul_id=fact.soul_id, fact_id=fact.fact_id)
        changed = before is None or before.content != fact.content
        await self._put(**fields_of(fact), **({"model": None, "vector": None} if changed else {}))

    async def delete(self, fact: Fact) -> None:
        """Delete a fact; what it had superseded holds again, or gives way to what supersedes it.

        The words that a person has corrected go with the correction: they were wrong.
        """
        for earlier in await self._superseded_by(fact):
            if fact.source == "user":
                await self.delete(earlier)
            else:
                valid_to = fact.valid_to if fact.superseded_by else None
                await self.put(replace(earlier, superseded_by=fact.superseded_by, valid_to=valid_to))
        await self.forget(fact)

    async def forget(self, fact: Fact) -> None:
        """Delete a fact alone, whatever it had superseded."""
        await self._remove(soul_id=fact.soul_id, fact_id=fact.fact_id)

    async def share_with(self, soul_id: str, message_id: int, people: Sequence[str]) -> None:
        """Let those know what was drawn from this message alone who may know of the message, and nobody else.

        What its person is called in private is not told with it.
        """
        called = Preferences(self._connection)
        for fact in await self.drawn_from(soul_id, [message_id]):
            if fact.message_ids == [message_id] and fact.source != "user":
                name = (await called.addresses(soul_id, [fact.user_id])).get(fact.user_id, fact.user_id)
                shown = (await called.addresses(soul_id, [fact.user_id, *people])).get(fact.user_id, fact.user_id)
                content = _renamed(fact.content, name, shown)
                # A little later, so that whoever has read the facts sees that they have changed.
                changed_at = fact.updated_at + 0.001
                await self.put(replace(fact, content=content, shared_with=tuple(people), updated_at=changed_at))

    async def _superseded_by(self, fact: Fact) -> list[Fact]:
        keys = {"soul_id": fact.soul_id, "superseded_by": fact.fact_id}
        return await self._all(self._rows(*keys), **keys)

    async def drawn_from(self, soul_id: str, message_ids: Collection[int]) -> list[Fact]:
        """The facts that have one of these messages for evidence."""
        gone = {*message_ids}
        return [fact for fact in await self.all(soul_id) if gone.intersection(fact.message_ids)]

    async def withdraw(self, soul_ids: Iterable[str], message_ids: Collection[int]) -> list[Fact]:
        """To be called when these messages are deleted or changed: they are evidence no more.

        What was drawn from them alone is deleted, unless a person has written it; returns that.
        """
        gone = {*message_ids}
        unfounded = []
        for soul_id in soul_ids:
            for fact in await self.drawn_from(soul_id, gone):
                left = [message_id for message_id in fact.message_ids if message_id not in gone]
                if left or fact.source == "user":
                    await self.put(replace(await self.get(soul_id, fact.fact_id), message_ids=left))
                else:
                    await self.delete(await self.get(soul_id, fact.fact_id))
                    unfounded.append(fact)
        return unfounded

    async def stamp(self, soul_id: str) -> Stamp:
        """Changes with every fact of the soul that is added, changed, deleted, or gets its vector."""
        row: Any = (await self._connection.execute(self._stamp(), {"soul_id": soul_id})).one()
        return Stamp(*row)

    async def find_all(self, soul_id: str, fact_ids: Collection[str]) -> list[Fact]:
        """Those of these facts that there are."""
        query = self._rows("soul_id").where(self.table.c.fact_id.in_(sorted(fact_ids)))
        return await self._all(query, soul_id=soul_id)

    async def vectors(self, soul_id: str, model: str) -> dict[str, bytes]:
        """The vectors of this model, by fact."""
        row = self.table.c
        query = select(row.fact_id, row.vector).where(row.soul_id == soul_id, row.model == model)
        return {row.fact_id: row.vector for row in await self._connection.execute(query)}

    async def without_vector(self, limit: int) -> list[Fact]:
        return await self._all(self._rows().where(self.table.c.model.is_(None)).limit(limit))

    async def drop_vectors(self, model: str) -> None:
        """Delete all vectors but those of this model."""
        others = update(self.table).where(self.table.c.model != model)
        await self._connection.execute(others.values(model=None, vector=None))

    async def put_vectors(self, model: str, vectors: Sequence[tuple[Fact, bytes]]) -> None:
        """Store vectors; a fact that has other words by now is left out."""
        for fact, vector in vectors:
            keys = {"soul_id": fact.soul_id, "fact_id": fact.fact_id, "content": fact.content}
            await self._set(keys, model=model, vector=vector)

    @classmethod
    @cache
    def _stamp(cls) -> Select[Any]:
        row = cls.table.c
        changes: list[Any] = [func.count(), func.max(row.updated_at), func.count(row.model)]
        return select(*changes).where(row.soul_id == bindparam("soul_id"))

    @classmethod
    @cache
    def _own_or_shared(cls) -> Select[Any]:
        """Two selects, because for an `or` the databases may read everybody's rows instead of two indexes."""
        own, others = cls._rows("soul_id", "user_id"), cls.table.c.user_id != bindparam("user_id")
        return select(union_all(own, cls._rows("soul_id").where(others, is_shared(cls.table))).subquery())


def as_known(facts: Sequence[Fact]) -> list[Fact]:
    """The facts as those see them who know these alone."""
    ids = {fact.fact_id for fact in facts}
    return [
        replace(fact, superseded_by=None, valid_to=None)
        if fact.superseded_by and fact.superseded_by not in ids
        else fact
        for fact in facts
    ]


def _in_order(facts: Iterable[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: (fact.said_at, fact.fact_id))
