"""Souls, with their personality, emotion, profile and inner monologue.

Methods that read or change one soul raise NotFound if it does not exist.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import Row, Select, bindparam, or_, select
from sqlalchemy.exc import IntegrityError

from soulgraph.errors import Conflict, InvalidInput, NotFound
from soulgraph.soul.emotions import EmotionState, EmotionStateDict
from soulgraph.soul.personality import Traits
from soulgraph.soul.profile import Profile
from soulgraph.stores import schema
from soulgraph.stores.bulk_update import update_rows
from soulgraph.stores.records import MoodRow, Soul
from soulgraph.stores.repository import Repository, fields_of

_TICK_TOLERANCE = 0.9  # share of the period after which a soul may be ticked again: a tick may come a little early
_log = logging.getLogger(__name__)


class Souls(Repository[Soul]):
    table = schema.souls
    record = Soul

    def _record(self, row: Row[Any]) -> Soul:
        """The row with its traits and emotion decoded from JSON; raises InvalidInput if they cannot be read."""
        soul = super()._record(row)
        traits, emotion = decode(soul.soul_id, soul.personality_vector, soul.emotion_state)
        return replace(soul, personality_vector=traits, emotion_state=emotion)

    async def add(self, soul: Soul) -> None:
        """Raises Conflict if the user has a soul with this name."""
        state = {"personality_vector": soul.personality_vector.to_dict(), "emotion_state": soul.emotion_state.to_dict()}
        try:
            await self._add(fields_of(soul) | state)
        except IntegrityError as error:  # the id is random, so it is the name that exists
            raise _name_taken(soul.name) from error

    async def get(self, soul_id: str) -> Soul:
        return await self._required(self._rows("soul_id"), soul_id)

    async def lock(self, soul_id: str) -> Soul:
        """The soul, locked against other writers until the transaction ends."""
        return await self._required(self._locked("soul_id"), soul_id)

    async def all(self, user_id: str | None = None) -> list[Soul]:
        order = self.table.c.created_at, self.table.c.soul_id
        if user_id is None:
            return await self._all(self._rows().order_by(*order))
        return await self._all(self._rows("user_id").order_by(*order), user_id=user_id)

    async def oldest(self, limit: int) -> list[str]:
        """The ids of the souls that were made first."""
        row = self.table.c
        query = select(row.soul_id).order_by(row.created_at, row.soul_id).limit(limit)
        return [found.soul_id for found in await self._connection.execute(query)]

    async def called(self, name_or_id: str) -> list[Soul]:
        """The soul with this id, else the souls of all users with this name; may be empty."""
        with_id = await self._all(self._rows("soul_id"), soul_id=name_or_id)
        return with_id or await self._all(self._rows("name"), name=name_or_id)

    async def rename(self, soul_id: str, name: str, now: float) -> None:
        try:
            await self._change(soul_id, now, name=name)
        except IntegrityError as error:
            raise _name_taken(name) from error

    async def feel(self, soul_id: str, emotion: EmotionState, turns: int, now: float) -> None:
        """Store the new emotion, and the number of inputs the soul has received in all."""
        await self._change(soul_id, now, emotion_state=emotion.to_dict(), turns=turns)

    async def claim(self, soul_ids: Sequence[str], now: float, period_s: float) -> list[MoodRow]:
        """The souls of these that were not ticked in this period, locked until the transaction ends.

        Souls that another transaction has locked are left out until their next tick. Souls whose stored state cannot
        be read are logged and left out, so that they do not stop the others.
        """
        period = {"not_after": now - _TICK_TOLERANCE * period_s, "clock_went_back": now + period_s}
        rows = await self._connection.execute(_due_for_tick(), {"soul_ids": soul_ids, **period})
        return list(_readable(rows))

    async def moods(self, soul_ids: Sequence[str]) -> list[MoodRow]:
        """What a tick reads of these souls, without claiming them; those that do not exist are left out."""
        return list(_readable(await self._connection.execute(_moods(), {"soul_ids": soul_ids})))

    async def tick(self, emotion_states: Mapping[str, EmotionStateDict], now: float) -> None:
        """Store the new emotions of the claimed souls in one batch.

        Leaves `version` and `updated_at` as they are: they change with edits and turns, not with the passing of time.
        """
        rows = [{"soul_id": one, "emotion_state": state, "ticked_at": now} for one, state in emotion_states.items()]
        await update_rows(self._connection, self.table, "soul_id", rows)

    async def grow(self, soul_id: str, dynamic_profile: Profile, now: float) -> None:
        await self._change(soul_id, now, dynamic_profile=dynamic_profile)

    async def think(self, soul_id: str, inner_state: str, now: float) -> None:
        await self._change(soul_id, now, inner_state=inner_state)

    async def note(self, soul_id: str, scratch_area: str, now: float) -> None:
        """Replace the soul's working notes."""
        await self._change(soul_id, now, scratch_area=scratch_area)

    async def delete(self, soul_id: str) -> None:
        if not await self._remove(soul_id=soul_id):
            raise NotFound("soul", soul_id)

    async def _change(self, soul_id: str, now: float, **values: Any) -> None:
        if not await self._set({"soul_id": soul_id}, **values, updated_at=now):
            raise NotFound("soul", soul_id)

    async def _required(self, query: Select[Any], soul_id: str) -> Soul:
        soul = await self._first(query, soul_id=soul_id)
        if soul is None:
            raise NotFound("soul", soul_id)
        return soul


def decode(soul_id: str, traits: Any, emotion: Any) -> tuple[Traits, EmotionState]:
    """Raises InvalidInput with the id of the soul if its JSON cannot be read."""
    try:
        return Traits.from_dict(traits), EmotionState.from_dict(emotion)
    except InvalidInput as error:
        raise InvalidInput(f"the stored state of soul {soul_id} cannot be read: {error.detail}") from error


def _readable(rows: Iterable[Row[Any]]) -> Iterator[MoodRow]:
    """The rows decoded; one that cannot be read is logged and left out."""
    for row in rows:
        try:
            traits, emotion = decode(row.soul_id, row.personality_vector, row.emotion_state)
            yield MoodRow(row.soul_id, row.name, traits, emotion)
        except InvalidInput as error:
            _log.error("%s", error.detail)


@cache
def _due_for_tick() -> Select[Any]:
    row = schema.souls.c
    due = or_(
        row.ticked_at.is_(None),
        row.ticked_at <= bindparam("not_after"),
        row.ticked_at > bindparam("clock_went_back"),
    )
    return _moods().where(due).with_for_update(of=schema.souls, key_share=True, skip_locked=True)


@cache
def _moods() -> Select[Any]:
    row = schema.souls.c
    wanted = row.soul_id.in_(bindparam("soul_ids", expanding=True))
    return select(row.soul_id, row.name, row.personality_vector, row.emotion_state).where(wanted)


def _name_taken(name: str) -> Conflict:
    return Conflict("soul_exists", f"this user already has a soul called {name!r}: choose another name")
