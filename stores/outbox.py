"""The outbox: work that follows a turn, written in the turn's own transaction."""

from soulgraph.stores import schema
from soulgraph.stores.records import Job, Json
from soulgraph.stores.repository import Repository


class Outbox(Repository[Job]):
    table = schema.outbox
    record = Job

    async def add(self, kind: str, soul_id: str, session_id: str, turn_id: str, payload: Json, now: float) -> None:
        job = {"kind": kind, "soul_id": soul_id, "session_id": session_id, "turn_id": turn_id, "payload": payload}
        await self._add({**job, "status": "pending", "attempts": 0, "run_at": now, "created_at": now})

    async def all(self, session_id: str) -> list[Job]:
        return await self._all(self._rows("session_id").order_by(self.table.c.job_id), session_id=session_id)
