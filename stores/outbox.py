"""The outbox: work that follows a turn, written in the turn's own transaction and done at least once.

A claim is a lease: `run_at` moves to where it ends, and a worker that dies lets it run out. The number of attempts
tells one claim from the next, so that who comes late with an old one changes nothing.
"""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, delete, exists, func, select

from soulgraph.errors import Conflict, NotFound
from soulgraph.stores import schema_memory
from soulgraph.stores.records import Job, JobStatus, Json
from soulgraph.stores.repository import Repository

_OPEN: tuple[JobStatus, ...] = ("pending", "running")


class Outbox(Repository[Job]):
    table = schema_memory.outbox
    record = Job

    async def add(self, kind: str, soul_id: str, session_id: str, turn_id: str, payload: Json, now: float) -> None:
        job = {"kind": kind, "soul_id": soul_id, "session_id": session_id, "turn_id": turn_id, "payload": payload}
        await self._add({**job, "status": "pending", "attempts": 0, "run_at": now, "created_at": now})

    async def all(self, session_id: str) -> list[Job]:
        return await self._all(self._rows("session_id").order_by(self.table.c.job_id), session_id=session_id)

    async def get(self, job_id: int) -> Job:
        job = await self._first(self._rows("job_id"), job_id=job_id)
        if job is None:
            raise NotFound("job", str(job_id))
        return job

    async def page(self, status: JobStatus | None, limit: int, before: int | None = None) -> list[Job]:
        """The newest first, those with an id below `before`."""
        query = self._rows() if status is None else self._rows().where(self.table.c.status == status)
        query = query if before is None else query.where(self.table.c.job_id < before)
        return await self._all(query.order_by(self.table.c.job_id.desc()).limit(limit))

    async def counts(self) -> dict[str, int]:
        """How many jobs there are, by status."""
        by_status = select(self.table.c.status, func.count()).group_by(self.table.c.status)
        rows: Any = (await self._connection.execute(by_status)).all()
        return dict(rows)

    async def claim(self, now: float, until: float) -> Job | None:
        """The oldest job that is due, with no earlier one of its session still open; it is the caller's until then."""
        row = await self._first(self._due(), now=now)
        if row is None:
            return None
        await self._set({"job_id": row.job_id}, status="running", attempts=row.attempts + 1, run_at=until)
        return await self.get(row.job_id)

    async def extend(self, job: Job, until: float) -> bool:
        return await self._change(job, run_at=until)

    async def done(self, job: Job) -> bool:
        return await self._change(job, status="done", error="")

    async def put_off(self, job: Job, until: float, why: str, counted: bool = True) -> bool:
        """To be tried again then; an attempt that could not begin does not count."""
        attempts = job.attempts if counted else job.attempts - 1
        return await self._change(job, status="pending", run_at=until, error=why, attempts=attempts)

    async def bury(self, job: Job, why: str) -> bool:
        """Given up, until somebody looks at it and has it retried."""
        return await self._change(job, status="dead", error=why)

    async def retry(self, job_id: int, now: float) -> Job:
        if not await self._set({"job_id": job_id, "status": "dead"}, status="pending", attempts=0, run_at=now):
            job = await self.get(job_id)
            raise Conflict("job_not_dead", f"job {job_id} is {job.status}: only a dead one can be retried")
        return await self.get(job_id)

    async def prune(self, soul_id: str, before: float) -> None:
        """Forget what was done for a soul before then."""
        row = self.table.c
        old = delete(self.table).where(row.soul_id == soul_id, row.status == "done", row.created_at < before)
        await self._connection.execute(old)

    async def _change(self, job: Job, **values: Any) -> bool:
        """Whether this claim still holds; if not, nothing is changed."""
        return await self._set({"job_id": job.job_id, "attempts": job.attempts, "status": "running"}, **values)

    @classmethod
    @cache
    def _due(cls) -> Select[Any]:
        row, earlier = cls.table.c, cls.table.alias("earlier")
        waits = exists().where(
            earlier.c.session_id == row.session_id, earlier.c.job_id < row.job_id, earlier.c.status.in_(_OPEN)
        )
        due = cls._rows().where(row.status.in_(_OPEN), row.run_at <= bindparam("now"), ~waits)
        return due.order_by(row.run_at, row.job_id).limit(1).with_for_update(of=cls.table, skip_locked=True)
