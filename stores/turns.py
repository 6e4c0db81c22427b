"""Turns: one row per input, so that an input that is sent again is applied and answered only once."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import BigInteger, Select, bindparam, cast, delete, select
from typing_extensions import TypedDict

from soulgraph.errors import NotFound
from soulgraph.soul.emotions import EmotionStateDict
from soulgraph.stores import schema
from soulgraph.stores.records import Json, Turn
from soulgraph.stores.repository import Repository, fields_of


class Before(TypedDict):
    """How a soul was before an input: its emotion, and how many inputs it had heard."""

    emotion_state: EmotionStateDict
    turns: int


class Turns(Repository[Turn]):
    table = schema.turns
    record = Turn

    async def find(self, session_id: str, input_id: str) -> Turn | None:
        return await self._first(self._rows("session_id", "input_id"), session_id=session_id, input_id=input_id)

    async def get(self, session_id: str, input_id: str) -> Turn:
        turn = await self.find(session_id, input_id)
        if turn is None:
            raise NotFound("turn", input_id)
        return turn

    async def of(self, turn_ids: Collection[str]) -> list[Turn]:
        """The stored turns with these ids."""
        return await self._all(self._with_ids(), turn_ids=sorted(turn_ids))

    async def after(self, session_id: str, at: float) -> list[Turn]:
        """The session's turns after this time, in any order."""
        return await self._all(self._after(), session_id=session_id, at=at)

    @classmethod
    @cache
    def _with_ids(cls) -> Select[Any]:
        return cls._rows().where(cls.table.c.turn_id.in_(bindparam("turn_ids", expanding=True)))

    @classmethod
    @cache
    def _after(cls) -> Select[Any]:
        return cls._rows("session_id").where(cls.table.c.created_at > bindparam("at"))

    async def heard(
        self,
        session_id: str,
        input_id: str,
        turn_id: str,
        soul_id: str,
        user_emotion: Json,
        now: float,
        before: Before | None = None,
    ) -> bool:
        """Record that this input has taken effect on the soul; False if it was recorded before."""
        return await self._put_new(
            session_id=session_id,
            input_id=input_id,
            turn_id=turn_id,
            soul_id=soul_id,
            user_emotion=user_emotion,
            created_at=now,
            before=before,
        )

    async def before(self, session_id: str, input_id: str) -> Before | None:
        """How the soul was before this input, if that is known."""
        row = self.table.c
        query = select(row.before).where(row.session_id == session_id, row.input_id == input_id)
        found: Before | None = (await self._connection.execute(query)).scalar()
        return found

    async def forget(self, session_id: str, input_ids: Collection[str]) -> None:
        """Delete the turns of these inputs: they were never said."""
        row = self.table.c
        await self._connection.execute(
            delete(self.table).where(row.session_id == session_id, row.input_id.in_(input_ids))
        )

    async def answered(self, session_id: str, input_id: str, answer: Json) -> None:
        """Store the answer to a recorded input."""
        await self._set({"session_id": session_id, "input_id": input_id}, answer=answer)

    async def answered_anew(self, session_id: str, input_id: str, turn_id: str, answer: Json) -> None:
        """Store the answer of another turn to the same input: what follows the earlier turn is no concern of it."""
        await self._set({"session_id": session_id, "input_id": input_id}, turn_id=turn_id, answer=answer)

    async def copy(self, session_id: str, to_session: str, turn_ids: Mapping[str, str]) -> int:
        """Copy those of these turns that are stored, each under its new id; returns how many they are."""
        stored = await self._all(self._rows("session_id"), session_id=session_id)
        known = [turn for turn in stored if turn.turn_id in turn_ids]
        if known:
            await self._add(*(fields_of(_copy(turn, to_session, turn_ids[turn.turn_id])) for turn in known))
        return len(known)

    async def in_place_of(self, session_id: str, message_id: int) -> Turn | None:
        """The turn whose answer has replaced this message, if any has."""
        replaced = cast(self.table.c.answer["replaces"].as_string(), BigInteger)
        return await self._first(self._rows("session_id").where(replaced == message_id), session_id=session_id)

    async def correct_reply(self, session_id: str, turn_id: str, reply: str) -> None:
        """Give a stored answer other words, if this turn has one."""
        for turn in await self.of([turn_id]):
            if turn.answer and turn.session_id == session_id:
                await self.answered(session_id, turn.input_id, {**turn.answer, "reply": reply})


def _copy(turn: Turn, session_id: str, turn_id: str) -> Turn:
    """The turn as one of another session; its answer does not replace anything there."""
    ids = {"session_id": session_id, "turn_id": turn_id, "replaces": None}
    answer = {**turn.answer, **ids} if turn.answer else None
    return replace(turn, session_id=session_id, turn_id=turn_id, answer=answer)
