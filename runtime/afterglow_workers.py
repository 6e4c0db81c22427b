"""Workers of the outbox: they claim the jobs that turns have left, one by one, each session's in its order."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from soulgraph.errors import BudgetExhausted, SoulgraphError, StoreUnavailable
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.runtime.tracing.trace import traced
from soulgraph.soul.validation import drop_nul
from soulgraph.stores.records import Job

CompiledAfterglow = CompiledStateGraph[AfterglowState, Context, AfterglowState, AfterglowState]
Observe = Callable[[str], None]

WORKERS = 4
MAX_ATTEMPTS = 12
_POLL_S, _RETRY_S = 2.0, 10.0
_FIRST_DELAY_S, _MAX_DELAY_S = 2.0, 3600.0

_log = logging.getLogger(__name__)


class AfterglowWorkers:
    def __init__(
        self, graph: CompiledAfterglow, context: Context, lease_s: float, observe: Observe = lambda outcome: None
    ) -> None:
        self._graph = graph
        self._context = context
        self._lease_s = lease_s
        self._observe = observe
        self._woken = context.outlets.new_jobs
        self._jobs: set[asyncio.Task[None]] = set()
        self._closing = False

    def wake(self) -> None:
        """A turn has left something to do."""
        self._woken.set()

    @asynccontextmanager
    async def running(self, grace_s: float) -> AsyncIterator[None]:
        """At the end the jobs that run are finished; one that is not in time is given back for the next start."""
        polling = asyncio.create_task(self._poll(), name="afterglow")
        try:
            yield
        finally:
            self._closing = True
            self.wake()
            await polling
            _, late = await asyncio.wait(self._jobs, timeout=grace_s) if self._jobs else (set(), set())
            for job in late:
                job.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _poll(self) -> None:
        """Look for a job whenever a turn or a job has ended, and every now and then: another server may leave some."""
        while not self._closing:
            self._woken.clear()
            try:
                job = await self._claim() if len(self._jobs) < WORKERS else None
            except StoreUnavailable as error:
                _log.warning("the work after turns waits: %s", error.detail)
                await self._pause(_RETRY_S)
                continue
            if job:
                self._start(job)
            else:
                await self._pause(_POLL_S)

    async def _pause(self, timeout_s: float) -> None:
        """Until woken, or until the time is over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), timeout_s)

    def _start(self, job: Job) -> None:
        task = asyncio.create_task(self._work(job), name=f"job {job.job_id}")
        self._jobs.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A job that could not even be settled comes back when its lease has run out."""
        self._jobs.discard(task)
        self.wake()
        if not task.cancelled() and (error := task.exception()):
            _log.warning("%s: %s", task.get_name(), error)

    async def _claim(self) -> Job | None:
        now = self._context.clock()
        async with self._context.stores.write() as tx:
            return await tx.outbox.claim(now, now + self._lease_s)

    async def _work(self, job: Job) -> None:
        """In a task of its own, so that whatever it fails with is a result."""
        work = asyncio.create_task(self._run(job))
        try:
            while not (await asyncio.wait({work}, timeout=self._lease_s / 3))[0]:
                await self._extend(job, work)
        finally:
            work.cancel()
            await asyncio.wait({work})
            await self._settle(job, asyncio.CancelledError() if work.cancelled() else work.exception())

    async def _run(self, job: Job) -> None:
        names = {"soul_id": job.soul_id, "session_id": job.session_id, "turn_id": job.turn_id}
        follow_up = cast(FollowUp, {**job.payload, **names})
        config: RunnableConfig = {
            "configurable": {"thread_id": f"afterglow:{job.session_id}"},
            "metadata": {**names, **follow_up.get("labels", {})},
            "run_name": "afterglow",
        }
        with traced():
            await self._graph.ainvoke({"follow_up": follow_up}, config, context=self._context)

    async def _extend(self, job: Job, work: "asyncio.Task[None]") -> None:
        """Who has lost the claim stops: somebody else is at it."""
        async with self._context.stores.write() as tx:
            if not await tx.outbox.extend(job, self._context.clock() + self._lease_s):
                work.cancel()

    async def _settle(self, job: Job, error: BaseException | None) -> None:
        now = self._context.clock()
        async with self._context.stores.write() as tx:
            if error is None:
                await tx.outbox.done(job)
            elif isinstance(error, asyncio.CancelledError):
                await tx.outbox.put_off(job, now, "interrupted", counted=False)
            elif isinstance(error, BudgetExhausted):
                await tx.outbox.put_off(job, error.resets_at, _reason(error), counted=False)
            elif job.attempts >= MAX_ATTEMPTS:
                await tx.outbox.bury(job, _reason(error))
            else:
                await tx.outbox.put_off(job, now + _delay(job.attempts), _reason(error))
        self._report(job, error)

    def _report(self, job: Job, error: BaseException | None) -> None:
        outcome = error.problem_code if isinstance(error, SoulgraphError) else "ok" if error is None else "failed"
        self._observe(outcome)
        if isinstance(error, SoulgraphError):
            _log.warning("job %d was put off after attempt %d: %s", job.job_id, job.attempts, error.detail)
        elif isinstance(error, Exception):
            _log.error("job %d failed", job.job_id, exc_info=error)


def _reason(error: BaseException) -> str:
    detail = error.detail if isinstance(error, SoulgraphError) else repr(error)
    return str(drop_nul(detail))[:1000]


def _delay(attempts: int) -> float:
    """Twice as long each time, and never quite the same: many that failed together do not come back together."""
    return min(_FIRST_DELAY_S * 2.0 ** (attempts - 1), _MAX_DELAY_S) * random.uniform(0.8, 1.2)
