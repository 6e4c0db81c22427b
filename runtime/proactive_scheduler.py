"""Runs the proactive graph for each soul that is due to speak to a person, outside quiet hours.

The person must be reachable: through a stream or socket of theirs, or a terminal at which they usually are.
"""

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
from soulgraph.runtime.node_events import run_watched, watching
from soulgraph.runtime.periodic import Periodic
from soulgraph.runtime.reachability import reachable_people
from soulgraph.runtime.tracing.trace import traced
from soulgraph.stores.proactive_schedules import Pair
from soulgraph.stores.records import ProactiveSchedule

POLL_S = 30.0

_MAX_CONCURRENT = 8
_log = logging.getLogger(__name__)

CompiledProactive = CompiledStateGraph[ProactiveState, Context, ProactiveInput, ProactiveState]


def _pair(schedule: ProactiveSchedule) -> Pair:
    return schedule.soul_id, schedule.user_id


def _compiled() -> CompiledProactive:
    return proactive_graph().compile(name="life")


@dataclass(frozen=True, slots=True)
class ProactiveScheduler:
    """The schedule is in the database, so that it survives restarts and each pair is run by only one server."""

    context: Context
    listeners: Listeners
    random: Random = field(default_factory=Random)
    graph: CompiledProactive = field(default_factory=_compiled)

    def running(self) -> AbstractAsyncContextManager[None]:
        return Periodic("life", POLL_S, self.pulse).running()

    async def pulse(self) -> None:
        """Run every pair that is due. Does nothing in quiet hours, and only reads when none is due."""
        now = self.context.clock()
        if not self._config.enabled or self.context.local_time(now) in self._config.quiet_hours:
            return
        claimed = await self._claim(now)
        concurrency = asyncio.Semaphore(_MAX_CONCURRENT)
        async with asyncio.TaskGroup() as tasks:
            for soul_id, user_id in claimed:
                tasks.create_task(self._run(soul_id, user_id, concurrency))

    @property
    def _config(self) -> ProactiveConfig:
        return self.context.persona.life

    async def _claim(self, now: float) -> list[Pair]:
        """The pairs that are due and have not reached their daily cap.

        A reachable pair without a schedule gets one, so that the soul does not speak as soon as somebody listens.
        """
        async with self.context.stores.read() as tx:
            has_terminals = self.context.outlets.hub is not None
            reachable = await reachable_people(tx, self.listeners, now, has_terminals)
            schedules = await tx.proactive_schedules.of(reachable)
        latest = self._latest_valid(now)
        unscheduled = reachable - {_pair(schedule) for schedule in schedules if schedule.due_at <= latest}
        due = [_pair(schedule) for schedule in schedules if schedule.due_at <= now]
        if not unscheduled and not due:
            return []
        async with self.context.stores.write() as tx:
            await tx.proactive_schedules.schedule({pair: self._next_due(now) for pair in sorted(unscheduled)})
            claimed = await tx.proactive_schedules.claim({pair: self._next_due(now) for pair in due}, now)
        today = self.context.local_time(now).date().isoformat()
        return [_pair(schedule) for schedule in claimed if schedule.spoken_on(today) < self._config.daily_cap]

    def _next_due(self, now: float) -> float:
        """A random time within the configured interval.

        A time in quiet hours is moved by their length, so that souls do not all speak the moment they end.
        """
        config = self._config
        due = now + 60 * self.random.uniform(config.min_interval_minutes, config.max_interval_minutes)
        in_quiet_hours = self.context.local_time(due) in config.quiet_hours
        return due + config.quiet_hours.length.total_seconds() if in_quiet_hours else due

    def _latest_valid(self, now: float) -> float:
        """A due time later than this was set before the clock was put back, or under another configuration."""
        return now + 60 * self._config.max_interval_minutes + self._config.quiet_hours.length.total_seconds()

    async def _run(self, soul_id: str, user_id: str, concurrency: asyncio.Semaphore) -> None:
        """Run one pair. An error is logged and affects no other; this one is tried again at its next due time."""
        config: RunnableConfig = {"run_name": "life", "metadata": {"soul_id": soul_id, "user_id": user_id}}
        async with concurrency:
            try:
                with traced():
                    pair: ProactiveInput = {"soul_id": soul_id, "user_id": user_id}
                    nodes = watching(self.context, "proactive", user_id, {"soul_id": soul_id})
                    await run_watched(self.graph, pair, config, self.context, nodes)
            except (SoulgraphError, SQLAlchemyError) as error:
                _log.warning("life: soul %s: %s", soul_id, str(error).partition("\n")[0])
