"""Souls: the individuals. Everything that grows with one of them hangs on its row."""

from typing import Any

from sqlalchemy import delete, update
from sqlalchemy.exc import IntegrityError

from soulgraph.errors import Conflict, NotFound
from soulgraph.stores import schema
from soulgraph.stores.records import Json, Soul
from soulgraph.stores.repository import Repository, fields_of


class Souls(Repository[Soul]):
    table = schema.souls
    record = Soul

    async def add(self, soul: Soul) -> None:
        try:
            await self._add(**fields_of(soul))
        except IntegrityError as error:
            raise _name_taken(soul.name) from error

    async def get(self, soul_id: str) -> Soul:
        return self._known(await self._first(self._rows.where(self.table.c.soul_id == soul_id)), soul_id)

    async def lock(self, soul_id: str) -> Soul:
        """The soul, held against other writers until the transaction ends."""
        query = self._rows.where(self.table.c.soul_id == soul_id).with_for_update()
        return self._known(await self._first(query), soul_id)

    async def all(self, user_id: str | None = None) -> list[Soul]:
        query = self._rows.order_by(self.table.c.created_at, self.table.c.soul_id)
        return await self._all(query if user_id is None else query.where(self.table.c.user_id == user_id))

    async def rename(self, soul_id: str, name: str, now: float) -> None:
        try:
            await self._change(soul_id, now, name=name)
        except IntegrityError as error:
            raise _name_taken(name) from error

    async def feel(self, soul_id: str, emotion_state: Json, now: float) -> None:
        await self._change(soul_id, now, emotion_state=emotion_state)

    async def grow(self, soul_id: str, dynamic_profile: Json, now: float) -> None:
        await self._change(soul_id, now, dynamic_profile=dynamic_profile)

    async def count_turn(self, soul_id: str, now: float) -> None:
        await self._change(soul_id, now, turns=self.table.c.turns + 1)

    async def delete(self, soul_id: str) -> None:
        gone = await self._connection.execute(delete(self.table).where(self.table.c.soul_id == soul_id))
        if not gone.rowcount:
            raise NotFound("soul", soul_id)

    async def _change(self, soul_id: str, now: float, **values: Any) -> None:
        values |= {"version": self.table.c.version + 1, "updated_at": now}
        changed = await self._connection.execute(
            update(self.table).where(self.table.c.soul_id == soul_id).values(**values)
        )
        if not changed.rowcount:
            raise NotFound("soul", soul_id)

    @staticmethod
    def _known(soul: Soul | None, soul_id: str) -> Soul:
        if soul is None:
            raise NotFound("soul", soul_id)
        return soul


def _name_taken(name: str) -> Conflict:
    return Conflict("soul_exists", f"this user already has a soul called {name!r}: choose another name")
