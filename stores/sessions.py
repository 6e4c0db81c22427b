"""Sessions: conversations. Each keeps its own snapshot of the character and its own persona state."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, update

from soulgraph.errors import Conflict, NotFound
from soulgraph.soul.modes import PersonaState
from soulgraph.stores import schema
from soulgraph.stores.records import Session
from soulgraph.stores.repository import Repository, fields_of


class Sessions(Repository[Session]):
    table = schema.sessions
    record = Session

    async def find(self, session_id: str) -> Session | None:
        return await self._first(self._rows.where(self.table.c.session_id == session_id))

    async def get(self, session_id: str) -> Session:
        session = await self.find(session_id)
        if session is None:
            raise NotFound("session", session_id)
        return session

    async def all(self, soul_id: str | None = None, limit: int | None = None) -> list[Session]:
        newest = self._rows.order_by(self.table.c.updated_at.desc(), self.table.c.session_id).limit(limit)
        return await self._all(newest if soul_id is None else newest.where(self.table.c.soul_id == soul_id))

    async def add(self, session: Session) -> None:
        await self._add(**fields_of(session))

    async def ensure(self, session: Session) -> None:
        """Add the session unless it is there."""
        await self._put_new(**fields_of(session))

    async def patch(self, session_id: str, now: float, **values: Any) -> None:
        await self._change(session_id, {**values, "updated_at": now})

    async def set_persona_state(self, session_id: str, persona_state: PersonaState, now: float) -> None:
        await self._change(session_id, {"persona_state": persona_state, "updated_at": now})

    async def advance(self, session_id: str, turn: int, persona_state: PersonaState, now: float) -> None:
        """Write turn number `turn`; refused if another writer has taken that number."""
        advanced = await self._connection.execute(
            update(self.table)
            .where(self.table.c.session_id == session_id, self.table.c.turn == turn - 1)
            .values(turn=turn, persona_state=persona_state, updated_at=now)
        )
        if not advanced.rowcount:
            raise Conflict("turn_superseded", f"turn {turn} of this session was written by another server: retry")

    async def delete(self, session_id: str) -> None:
        for table in (schema.outbox, schema.turns):
            await self._connection.execute(delete(table).where(table.c.session_id == session_id))
        gone = await self._connection.execute(delete(self.table).where(self.table.c.session_id == session_id))
        if not gone.rowcount:
            raise NotFound("session", session_id)

    async def _change(self, session_id: str, values: Mapping[str, Any]) -> None:
        changed = await self._connection.execute(
            update(self.table).where(self.table.c.session_id == session_id).values(**values)
        )
        if not changed.rowcount:
            raise NotFound("session", session_id)
