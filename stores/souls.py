"""Souls: the individuals. Everything that grows with one of them hangs on its row."""

from typing import Any

from sqlalchemy import Select
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
            await self._add(fields_of(soul))
        except IntegrityError as error:
            raise _name_taken(soul.name) from error

    async def get(self, soul_id: str) -> Soul:
        return await self._known(self._rows("soul_id"), soul_id)

    async def lock(self, soul_id: str) -> Soul:
        """The soul, held against other writers until the transaction ends."""
        return await self._known(self._locked("soul_id"), soul_id)

    async def all(self, user_id: str | None = None) -> list[Soul]:
        order = self.table.c.created_at, self.table.c.soul_id
        if user_id is None:
            return await self._all(self._rows().order_by(*order))
        return await self._all(self._rows("user_id").order_by(*order), user_id=user_id)

    async def rename(self, soul_id: str, name: str, now: float) -> None:
        try:
            await self._change(soul_id, now, name=name)
        except IntegrityError as error:
            raise _name_taken(name) from error

    async def feel(self, soul_id: str, emotion_state: Json, turns: int, now: float) -> None:
        """The new mood, and how many inputs the soul has heard in its life."""
        await self._change(soul_id, now, emotion_state=emotion_state, turns=turns)

    async def grow(self, soul_id: str, dynamic_profile: Json, now: float) -> None:
        await self._change(soul_id, now, dynamic_profile=dynamic_profile)

    async def delete(self, soul_id: str) -> None:
        if not await self._remove(soul_id=soul_id):
            raise NotFound("soul", soul_id)

    async def _change(self, soul_id: str, now: float, **values: Any) -> None:
        if not await self._set({"soul_id": soul_id}, **values, updated_at=now):
            raise NotFound("soul", soul_id)

    async def _known(self, query: Select[Any], soul_id: str) -> Soul:
        soul = await self._first(query, soul_id=soul_id)
        if soul is None:
            raise NotFound("soul", soul_id)
        return soul


def _name_taken(name: str) -> Conflict:
    return Conflict("soul_exists", f"this user already has a soul called {name!r}: choose another name")
