"""Runs the proactive graph for souls that somebody can hear, outside quiet hours, each when it is due."""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from random import Random

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from sqlalchemy.exc import SQLAlchemyError

from soulgraph.errors import SoulgraphError
from soulgraph.graph.proactive import proactive_graph
from soulgraph.library.persona_config import ProactiveConfig
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import ProactiveInput, ProactiveState
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.rounds import Rounds
from soulgraph.runtime.tracing.trace import traced
from soulgraph.stores.stores import Transaction

POLL_S = 30.0

_AT_ONCE = 8
_log = logging.getLogger(__name__)

CompiledProactive = CompiledStateGraph[ProactiveState, Context, ProactiveInput, ProactiveState]


def _compiled() -> CompiledProactive:
    return proactive_graph().compile(name="life")


@dataclass(frozen=True, slots=True)
class ProactiveScheduler:
    """The schedule is in the database: it outlives the server, and of several servers one takes each soul."""

    context: Context
    listeners: Listeners
    random: Random = field(default_factory=Random)
    graph: CompiledProactive = field(default_factory=_compiled)

    def running(self) -> AbstractAsyncContextManager[None]:
        return Rounds("life", POLL_S, self.pulse).running()

    async def pulse(self) -> None:
        """One look: in quiet hours nothing at all, and with nobody due no more than a read."""
        now = self.context.clock()
        if self.context.local_time(now) in self._rules.quiet_hours:
            return
        some, claimed = asyncio.Semaphore(_AT_ONCE), await self._claim(now)
        async with asyncio.TaskGroup() as tasks:
            for soul_id in claimed:
                tasks.create_task(self._run(soul_id, some))

    @property
    def _rules(self) -> ProactiveConfig:
        return self.context.persona.life

    async def _claim(self, now: float) -> list[str]:
        """The souls that are due and may still speak today. One that is heard for the first time has yet to wait."""
        async with self.context.stores.read() as tx:
            reachable = await self._reachable(tx, now)
            schedules = await tx.proactive_schedules.of(reachable)
        timeless = reachable - {schedule.soul_id for schedule in schedules if schedule.due_at <= self._latest(now)}
        due = [schedule.soul_id for schedule in schedules if schedule.due_at <= now]
        if not timeless and not due:
            return []
        async with self.context.stores.write() as tx:
            await tx.proactive_schedules.schedule({soul_id: self._next(now) for soul_id in sorted(timeless)})
            claimed = await tx.proactive_schedules.claim({soul_id: self._next(now) for soul_id in due}, now)
        today = self.context.local_time(now).date().isoformat()
        return [schedule.soul_id for schedule in claimed if schedule.spoken_on(today) < self._rules.daily_cap]

    async def _reachable(self, tx: Transaction, now: float) -> set[str]:
        awake = await tx.terminals.awake(now) if self.context.outlets.hub else []
        return {soul_id for _, soul_id in awake} | self.listeners.souls

    def _next(self, now: float) -> float:
        """Quiet hours do not count, so that nobody speaks the moment they are over."""
        rules = self._rules
        due = now + 60 * self.random.uniform(rules.min_interval_minutes, rules.max_interval_minutes)
        resting = self.context.local_time(due) in rules.quiet_hours
        return due + rules.quiet_hours.length.total_seconds() if resting else due

    def _latest(self, now: float) -> float:
        """A due time beyond this was set by a clock that has gone back since, or by other rules."""
        return now + 60 * self._rules.max_interval_minutes + self._rules.quiet_hours.length.total_seconds()

    async def _run(self, soul_id: str, some: asyncio.Semaphore) -> None:
        """What goes wrong with one soul is no other's loss; its next time comes."""
        config: RunnableConfig = {"run_name": "life", "metadata": {"soul_id": soul_id}}
        async with some:
            try:
                with traced(awaits="exec_mode"):
                    await self.graph.ainvoke({"soul_id": soul_id}, config, context=self.context)
            except (SoulgraphError, SQLAlchemyError) as error:
                _log.warning("life: soul %s: %s", soul_id, str(error).partition("\n")[0])
