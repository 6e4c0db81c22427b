"""Sessions: conversations. Each keeps its own snapshot of the character and its own persona state."""

from dataclasses import replace
from typing import Any

from sqlalchemy import Row, delete

from soulgraph.errors import Conflict, NotFound
from soulgraph.soul.modes import PersonaState
from soulgraph.soul.preferences import GuardState, new_guard
from soulgraph.stores import schema, schema_memory
from soulgraph.stores.records import Session
from soulgraph.stores.repository import Repository, fields_of


class Sessions(Repository[Session]):
    table = schema.sessions
    record = Session

    async def find(self, session_id: str) -> Session | None:
        return await self._first(self._rows("session_id"), session_id=session_id)

    async def get(self, session_id: str) -> Session:
        session = await self.find(session_id)
        if session is None:
            raise NotFound("session", session_id)
        return session

    async def all(self, soul_id: str | None = None, limit: int | None = None) -> list[Session]:
        """The newest first."""
        order = self.table.c.updated_at.desc(), self.table.c.session_id
        if soul_id is None:
            return await self._all(self._rows().order_by(*order).limit(limit))
        return await self._all(self._rows("soul_id").order_by(*order).limit(limit), soul_id=soul_id)

    def _record(self, row: Row[Any]) -> Session:
        """A session whose guard has not been written yet has a new one."""
        session = super()._record(row)
        return session if session.guard else replace(session, guard=new_guard())

    async def add(self, session: Session) -> None:
        await self._add(fields_of(session))

    async def ensure(self, session: Session) -> None:
        """Add the session unless it is there."""
        await self._put_new(**fields_of(session))

    async def retitle(self, session_id: str, title: str, now: float) -> None:
        if not await self._set({"session_id": session_id}, title=title, updated_at=now):
            raise NotFound("session", session_id)

    async def set_persona_state(self, session_id: str, persona_state: PersonaState, now: float) -> None:
        if not await self._set({"session_id": session_id}, persona_state=persona_state, updated_at=now):
            raise NotFound("session", session_id)

    async def set_guard(self, session_id: str, guard: GuardState) -> None:
        """What the preference guard has counted and is waiting for in this conversation."""
        if not await self._set({"session_id": session_id}, guard=guard):
            raise NotFound("session", session_id)

    async def speak_by(self, session_id: str, template_id: str) -> None:
        """Use another template from now on."""
        if not await self._set({"session_id": session_id}, template_id=template_id):
            raise NotFound("session", session_id)

    async def reflected(self, session_id: str, message_id: int) -> None:
        """What was said up to this message has been thought about."""
        if not await self._set({"session_id": session_id}, reflected_to=message_id):
            raise NotFound("session", session_id)

    async def touch(self, session_id: str, now: float) -> None:
        """Something was said in it that was no turn."""
        if not await self._set({"session_id": session_id}, updated_at=now):
            raise NotFound("session", session_id)

    async def advance(self, session_id: str, turn: int, persona_state: PersonaState, now: float) -> None:
        """Write turn number `turn`; refused if another writer has taken that number."""
        before = {"session_id": session_id, "turn": turn - 1}
        if not await self._set(before, turn=turn, persona_state=persona_state, updated_at=now):
            raise Conflict("turn_superseded", f"turn {turn} of this session was written by another server: retry")

    async def delete(self, session_id: str) -> None:
        for table in (schema_memory.outbox, schema.turns):
            await self._connection.execute(delete(table).where(table.c.session_id == session_id))
        if not await self._remove(session_id=session_id):
            raise NotFound("session", session_id)
