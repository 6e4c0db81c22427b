"""The outbox: jobs that follow a turn or a proactive message, written in its transaction and run at least once.

A claim is a lease: `run_at` is when it ends, and a job whose worker died can be claimed again after that. Each claim
increments `attempts`, so a worker whose lease has ended is recognised by its old number and changes nothing.
"""

from functools import cache
from typing import Any

from sqlalchemy import Select, bindparam, delete, exists, func, select

from soulgraph.errors import Conflict, NotFound
from soulgraph.stores import schema, schema_memory
from soulgraph.stores.records import Job, JobStatus, Json
from soulgraph.stores.repository import Repository

_OPEN: tuple[JobStatus, ...] = ("pending", "running")


class Outbox(Repository[Job]):
    table = schema_memory.outbox
    record = Job

    async def add(
        self,
        kind: str,
        soul_id: str,
        session_id: str,
        turn_id: str,
        payload: Json,
        now: float,
        run_at: float | None = None,
    ) -> None:
        """A job that is due now, or at `run_at`: until then whoever adds it does it, and drops it when it is done."""
        job = {"kind": kind, "soul_id": soul_id, "session_id": session_id, "turn_id": turn_id, "payload": payload}
        due = now if run_at is None else run_at
        await self._add({**job, "status": "pending", "attempts": 0, "run_at": due, "created_at": now})

    async def all(self, session_id: str) -> list[Job]:
        return await self._all(self._rows("session_id").order_by(self.table.c.job_id), session_id=session_id)

    async def get(self, job_id: int) -> Job:
        job = await self._first(self._rows("job_id"), job_id=job_id)
        if job is None:
            raise NotFound("job", str(job_id))
        return job

    async def page(self, status: JobStatus | None, limit: int, before: int | None = None) -> list[Job]:
        """Jobs with an id below `before`, the newest first; all of them if `status` or `before` is None."""
        query = self._rows() if status is None else self._rows().where(self.table.c.status == status)
        query = query if before is None else query.where(self.table.c.job_id < before)
        return await self._all(query.order_by(self.table.c.job_id.desc()).limit(limit))

    async def counts(self) -> dict[str, int]:
        """The number of jobs by status; a status without jobs is missing."""
        by_status = select(self.table.c.status, func.count()).group_by(self.table.c.status)
        rows: Any = (await self._connection.execute(by_status)).all()
        return dict(rows)

    async def claim(self, now: float, until: float) -> Job | None:
        """Claim the oldest job that is due, until `until`; None if there is none.

        A job is not due while an earlier one of its kind and session is pending or running.
        """
        due = await self._first(self._next_due(), now=now)
        if due is None:
            return None
        await self._set({"job_id": due.job_id}, status="running", attempts=due.attempts + 1, run_at=until)
        return await self.get(due.job_id)

    async def amend(self, turn_id: str, payload: Json) -> None:
        """Replace what is to be done after this turn: an attempt that comes later goes on from there."""
        await self._set({"turn_id": turn_id}, payload=payload)

    # The next four change a claimed job. They return False, and change nothing, if the claim was lost.

    async def extend(self, job: Job, until: float) -> bool:
        return await self._set_claimed(job, run_at=until)

    async def done(self, job: Job) -> bool:
        return await self._set_claimed(job, status="done", error="")

    async def reschedule(self, job: Job, until: float, why: str, counted: bool = True) -> bool:
        """Release the job to be claimed again after `until`; with `counted=False` this attempt does not count."""
        attempts = job.attempts if counted else job.attempts - 1
        return await self._set_claimed(job, status="pending", run_at=until, error=why, attempts=attempts)

    async def mark_dead(self, job: Job, why: str) -> bool:
        """Give the job up; only `retry` makes it pending again."""
        return await self._set_claimed(job, status="dead", error=why)

    async def retry(self, job_id: int, now: float) -> Job:
        """Make a dead job pending again with no attempts; raises NotFound, or Conflict if it is not dead."""
        if not await self._set({"job_id": job_id, "status": "dead"}, status="pending", attempts=0, run_at=now):
            job = await self.get(job_id)
            raise Conflict("job_not_dead", f"job {job_id} is {job.status}: only a dead one can be retried")
        return await self.get(job_id)

    async def prune(self, before: float, limit: int) -> int:
        """Delete up to `limit` jobs whose last lease ended before this time, which are done; returns how many."""
        row = self.table.c
        old = select(row.job_id).where(row.status == "done", row.run_at < before).limit(limit)
        # Rows that another server is deleting are skipped, so that servers never wait for each other.
        ids = (await self._connection.execute(old.with_for_update(skip_locked=True))).scalars()
        await self._connection.execute(delete(self.table).where(row.job_id.in_(ids)))
        return len(ids)

    # A worker that has one of the dropped jobs notices that its claim is lost, and stops.

    async def drop(self, session_id: str, turn_id: str) -> None:
        """Delete the job of a turn: what was said in it is gone."""
        await self._remove(session_id=session_id, turn_id=turn_id)

    async def drop_from(self, session_id: str, message_id: int) -> None:
        """Delete the jobs of the turn of this message and of all after it, before the messages are taken back."""
        said = schema.messages.c
        turns = select(said.turn_id).where(said.session_id == session_id, said.message_id >= message_id)
        row = self.table.c
        await self._connection.execute(delete(self.table).where(row.session_id == session_id, row.turn_id.in_(turns)))

    async def _set_claimed(self, job: Job, **values: Any) -> bool:
        return await self._set({"job_id": job.job_id, "attempts": job.attempts, "status": "running"}, **values)

    @classmethod
    @cache
    def _next_due(cls) -> Select[Any]:
        row = cls.table.c
        earlier = cls.table.alias("earlier")
        has_earlier = exists().where(
            earlier.c.session_id == row.session_id,
            earlier.c.kind == row.kind,
            earlier.c.job_id < row.job_id,
            earlier.c.status.in_(_OPEN),
        )
        due = cls._rows().where(row.status.in_(_OPEN), row.run_at <= bindparam("now"), ~has_earlier)
        # Rows that another server is claiming are skipped, so that servers never wait for each other.
        return due.order_by(row.run_at, row.job_id).limit(1).with_for_update(of=cls.table, skip_locked=True)
