"""Turns: one row per input, so that an input that is sent again is applied and answered only once."""

from collections.abc import Collection

from soulgraph.errors import NotFound
from soulgraph.stores import schema
from soulgraph.stores.records import Json, Turn
from soulgraph.stores.repository import Repository


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
        return await self._all(self._rows().where(self.table.c.turn_id.in_(sorted(turn_ids))))

    async def after(self, session_id: str, at: float) -> list[Turn]:
        """The session's turns after this time, in any order."""
        later = self._rows("session_id").where(self.table.c.created_at > at)
        return await self._all(later, session_id=session_id)

    async def heard(
        self, session_id: str, input_id: str, turn_id: str, soul_id: str, user_emotion: Json, now: float
    ) -> bool:
        """Record that this input has taken effect on the soul; False if it was recorded before."""
        return await self._put_new(
            session_id=session_id,
            input_id=input_id,
            turn_id=turn_id,
            soul_id=soul_id,
            user_emotion=user_emotion,
            created_at=now,
        )

    async def answered(self, session_id: str, input_id: str, answer: Json) -> None:
        """Store the answer to a recorded input."""
        await self._set({"session_id": session_id, "input_id": input_id}, answer=answer)
