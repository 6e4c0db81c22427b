"""Runs the jobs of the outbox, mostly through the afterglow graph: a few at a time, those of one session in order."""

import asyncio
import logging
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from soulgraph.errors import BudgetExhausted, MemoryUnavailable, SoulgraphError, StoreUnavailable
from soulgraph.nodes.context import Context
from soulgraph.nodes.outreach import DELIVERY, run_delivery
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.runtime.bus import Bus, LocalBus
from soulgraph.runtime.node_events import run_watched, watching
from soulgraph.runtime.tracing.trace import traced
from soulgraph.soul.people import NOBODY
from soulgraph.soul.validation import drop_nul
from soulgraph.stores.records import Job, Json

CompiledAfterglow = CompiledStateGraph[AfterglowState, Context, AfterglowState, AfterglowState]
Observe = Callable[[str], None]

WORKERS = 4
MAX_ATTEMPTS = 12
_POLL_S, _RETRY_S = 2.0, 10.0
_FIRST_DELAY_S, _MAX_DELAY_S = 2.0, 3600.0
_MEMORY_DELAY_S = 60.0

_log = logging.getLogger(__name__)


class AfterglowWorkers:
    def __init__(
        self,
        graph: CompiledAfterglow,
        context: Context,
        lease_s: float,
        observe: Observe = lambda outcome: None,
        bus: Bus | None = None,
    ) -> None:
        self._graph = graph
        self._context = context
        self._lease_s = lease_s
        self._observe = observe
        self._woken = context.outlets.new_jobs
        self._jobs: set[asyncio.Task[None]] = set()
        self._closing = False
        self._bus = bus or LocalBus()
        self._bus.subscribe("jobs_left", self._help)

    def wake(self) -> None:
        """Look for jobs now instead of at the next poll."""
        self._woken.set()

    @asynccontextmanager
    async def running(self, grace_s: float) -> AsyncIterator[None]:
        """Work on jobs for as long as the block lasts.

        At its end, running jobs get `grace_s` seconds to finish; those that do not are rescheduled for the next start.
        """
        polling = asyncio.create_task(self._poll(), name="afterglow")
        try:
            yield
        finally:
            self._closing = True
            self.wake()
            await polling
            _, unfinished = await asyncio.wait(self._jobs, timeout=grace_s) if self._jobs else (set(), set())
            for job in unfinished:
                job.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)

    async def _poll(self) -> None:
        """Claim jobs until the workers close. Polls even when nobody wakes it: another server may leave jobs too."""
        while not self._closing:
            if self._woken.is_set() and not self._has_room:
                self._bus.publish("jobs_left", {"server_id": self._bus.server_id})
            self._woken.clear()  # before the claim, so that a wake-up during it is not lost
            try:
                job = await self._claim() if self._has_room else None
            except StoreUnavailable as error:
                _log.warning("the work after turns waits: %s", error.detail)
                await self._pause(_RETRY_S)
                continue
            if job:
                self._start(job)
            else:
                await self._pause(_POLL_S)

    @property
    def _has_room(self) -> bool:
        return len(self._jobs) < WORKERS

    def _help(self, message: Json) -> None:
        """A server whose workers are all busy has left jobs; who is busy too looks when a worker is free."""
        if message["server_id"] != self._bus.server_id and self._has_room:
            self.wake()

    async def _pause(self, timeout_s: float) -> None:
        """Wait until somebody calls `wake`, at most `timeout_s`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), timeout_s)

    def _start(self, job: Job) -> None:
        task = asyncio.create_task(self._work(job), name=f"job {job.job_id}")
        self._jobs.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        """An error here is one of the database, not of the job: it stays claimed, and is run again after its lease."""
        self._jobs.discard(task)
        self.wake()
        if not task.cancelled() and (error := task.exception()):
            _log.warning("%s: %s", task.get_name(), error)

    async def _claim(self) -> Job | None:
        now = self._context.clock()
        async with self._context.stores.write() as tx:
            return await tx.outbox.claim(now, now + self._lease_s)

    async def _work(self, job: Job) -> None:
        """Run the job, extend its lease meanwhile, and store how it ended."""
        work = asyncio.create_task(self._run(job))  # a task of its own: any error becomes its result
        try:
            # Well before the lease ends, so that an extension may be late without losing the claim.
            while not (await asyncio.wait({work}, timeout=self._lease_s / 3))[0]:
                await self._extend(job, work)
        finally:
            work.cancel()
            await asyncio.wait({work})
            await self._store_outcome(job, asyncio.CancelledError() if work.cancelled() else work.exception())

    async def _run(self, job: Job) -> None:
        if job.kind == DELIVERY:
            await run_delivery(job, self._context)
            return
        ids = {"soul_id": job.soul_id, "session_id": job.session_id, "turn_id": job.turn_id}
        follow_up = cast(FollowUp, {**job.payload, **ids})
        config: RunnableConfig = {
            "configurable": {"thread_id": f"afterglow:{job.session_id}"},
            "metadata": {**ids, **follow_up.get("labels", {})},
            "run_name": "afterglow",
        }
        with traced(user_id=follow_up.get("user_id")):
            # Jobs from before people had owners lack the person: then only those who hear everybody's are told.
            nodes = watching(self._context, "afterglow", follow_up.get("user_id", NOBODY), ids)
            await run_watched(self._graph, {"follow_up": follow_up}, config, self._context, nodes)

    async def _extend(self, job: Job, work: "asyncio.Task[None]") -> None:
        """Extend the lease, or stop the work if the claim is lost: another worker has taken the job."""
        async with self._context.stores.write() as tx:
            if not await tx.outbox.extend(job, self._context.clock() + self._lease_s):
                work.cancel()

    async def _store_outcome(self, job: Job, error: BaseException | None) -> None:
        """Mark the job done or dead, or reschedule it.

        An interruption, an exhausted budget and a damaged memory are not the job's fault, so they do not count as
        attempts: it waits until they are over, however long that takes.
        """
        now = self._context.clock()
        async with self._context.stores.write() as tx:
            if error is None:
                await tx.outbox.done(job)
            elif isinstance(error, asyncio.CancelledError):
                await tx.outbox.reschedule(job, now, "interrupted", counted=False)
            elif isinstance(error, BudgetExhausted):
                await tx.outbox.reschedule(job, error.resets_at, _reason(error), counted=False)
            elif isinstance(error, MemoryUnavailable):
                await tx.outbox.reschedule(job, now + _MEMORY_DELAY_S, _reason(error), counted=False)
            elif job.attempts >= MAX_ATTEMPTS:
                await tx.outbox.mark_dead(job, _reason(error))
            else:
                await tx.outbox.reschedule(job, now + _delay(job.attempts), _reason(error))
        self._report(job, error)

    def _report(self, job: Job, error: BaseException | None) -> None:
        """Count the outcome and log a failure; only an unexpected one with its traceback."""
        outcome = error.problem_code if isinstance(error, SoulgraphError) else "ok" if error is None else "failed"
        self._observe(outcome)
        if isinstance(error, SoulgraphError):
            _log.warning("job %d was put off after attempt %d: %s", job.job_id, job.attempts, error.detail)
        elif isinstance(error, Exception):
            _log.error("job %d failed", job.job_id, exc_info=error)


def _reason(error: BaseException) -> str:
    """The error as text that every database can store."""
    detail = error.detail if isinstance(error, SoulgraphError) else repr(error)
    return str(drop_nul(detail))[:1000]


def _delay(attempts: int) -> float:
    """Exponential backoff with jitter, so that jobs that failed together are not retried together."""
    return min(_FIRST_DELAY_S * 2.0 ** (attempts - 1), _MAX_DELAY_S) * random.uniform(0.8, 1.2)
