"""Souls: the individuals. Everything that grows with one of them hangs on its row."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from sqlalchemy import Select, Update, bindparam, or_, select, update
from sqlalchemy.exc import IntegrityError

from soulgraph.errors import Conflict, NotFound
from soulgraph.stores import schema
from soulgraph.stores.records import Json, MoodRow, Soul
from soulgraph.stores.repository import Repository, fields_of

_PUNCTUAL = 0.9  # a tick may come a little early; a second one in the same period comes earlier than that


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

    async def called(self, name_or_id: str) -> list[Soul]:
        """The soul with this id, or those of all users with this name."""
        return await self._all(self._rows("soul_id"), soul_id=name_or_id) or await self._all(
            self._rows("name"), name=name_or_id
        )

    async def rename(self, soul_id: str, name: str, now: float) -> None:
        try:
            await self._change(soul_id, now, name=name)
        except IntegrityError as error:
            raise _name_taken(name) from error

    async def feel(self, soul_id: str, emotion_state: Json, turns: int, now: float) -> None:
        """The new mood, and how many inputs the soul has heard in its life."""
        await self._change(soul_id, now, emotion_state=emotion_state, turns=turns)

    async def claim(self, soul_ids: Sequence[str], now: float, period_s: float) -> list[MoodRow]:
        """Those of the souls that were not ticked in this period, held until the transaction ends.

        One that another transaction holds is left to its next tick.
        """
        period = {"not_after": now - _PUNCTUAL * period_s, "clock_went_back": now + period_s}
        rows = await self._connection.execute(_due(), {"soul_ids": soul_ids, **period})
        return [MoodRow(**row._mapping) for row in rows]

    async def tick(self, emotion_states: Mapping[str, Json], now: float) -> None:
        """What time has made of the souls that were claimed, in one batch."""
        if emotion_states:
            rows = [{"key": soul_id, "state": state, "now": now} for soul_id, state in emotion_states.items()]
            await self._connection.execute(_ticked(), rows)

    async def grow(self, soul_id: str, dynamic_profile: Json, now: float) -> None:
        await self._change(soul_id, now, dynamic_profile=dynamic_profile)

    async def think(self, soul_id: str, inner_state: str, now: float) -> None:
        await self._change(soul_id, now, inner_state=inner_state)

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


@cache
def _due() -> Select[Any]:
    row = schema.souls.c
    due = or_(
        row.ticked_at.is_(None),
        row.ticked_at <= bindparam("not_after"),
        row.ticked_at > bindparam("clock_went_back"),
    )
    wanted = row.soul_id.in_(bindparam("soul_ids", expanding=True))
    query = select(row.soul_id, row.personality_vector, row.emotion_state).where(wanted, due)
    return query.with_for_update(of=schema.souls, key_share=True, skip_locked=True)


@cache
def _ticked() -> Update:
    """Time passing is no change of who the soul is: version and date stay."""
    values: dict[str, Any] = {"emotion_state": bindparam("state"), "ticked_at": bindparam("now")}
    return update(schema.souls).where(schema.souls.c.soul_id == bindparam("key")).values(values)


def _name_taken(name: str) -> Conflict:
    return Conflict("soul_exists", f"this user already has a soul called {name!r}: choose another name")
