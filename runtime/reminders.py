"""Says reminders and promises when they are due: stored first, then sent, each once, whatever happens in between.

Several servers share the work: each claims what is due for the people that it can reach. What reaches nobody waits in
the database, and is said in the person's next conversation.
"""

import asyncio
import logging
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from sqlalchemy.exc import SQLAlchemyError

from soulgraph.errors import SoulgraphError
from soulgraph.nodes.context import Context
from soulgraph.nodes.outreach import tell_terminals
from soulgraph.nodes.plan_records import next_occurrence
from soulgraph.nodes.remind import reminder_text
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.periodic import Periodic
from soulgraph.runtime.reachability import reachable_people
from soulgraph.soul.plan_times import GRACE_S, after_quiet_hours, may_say, zone_of
from soulgraph.stores.factories import default_session_id, new_session
from soulgraph.stores.records import NewMessage, Plan, Session, Soul
from soulgraph.stores.stores import Transaction
from soulgraph.terminals.payloads import Proactive

POLL_S = 1.0

_BATCH = 50
_MAX_CONCURRENT = 8
_SESSIONS = 20
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Reminders:
    context: Context
    listeners: Listeners
    looked_at: float = float("inf")
    """When it looked last. If that is later than now, the clock was put back, and leases of before have to be seen."""

    def running(self) -> AbstractAsyncContextManager[None]:
        return Periodic("reminders", POLL_S, self.pulse).running()

    async def pulse(self) -> None:
        """Say what is due. One look at an index while nothing is."""
        now = self.context.clock()
        clock_was_put_back = now < self.looked_at
        self.looked_at = now
        async with self.context.stores.read() as tx:
            due = await tx.plans.next_due()
            if due is None or (due > now and not clock_was_put_back):
                return
            pairs = await reachable_people(tx, self.listeners, now, self.context.outlets.hub is not None)
        if due < now - GRACE_S:
            async with self.context.stores.write() as tx:
                await tx.plans.miss(now)
        while pairs and (claimed := await self._claim(pairs, now)):
            await self._say_all(claimed)

    async def _claim(self, pairs: set[tuple[str, str]], now: float) -> list[Plan]:
        async with self.context.stores.write() as tx:
            return await tx.plans.claim(pairs, now, _BATCH)

    async def _say_all(self, claimed: list[Plan]) -> None:
        concurrency = asyncio.Semaphore(_MAX_CONCURRENT)
        async with asyncio.TaskGroup() as tasks:
            for plan in claimed:
                tasks.create_task(self._say(plan, concurrency))

    async def _say(self, plan: Plan, concurrency: asyncio.Semaphore) -> None:
        """An error is logged and affects no other; when the lease has ended it is tried again."""
        async with concurrency:
            try:
                said = plan if plan.status == "delivered" else await self._store(plan)
                if said:
                    await self._send(said)
            except (SoulgraphError, SQLAlchemyError) as error:
                _log.warning("reminders: plan %s: %s", plan.plan_id, str(error).partition("\n")[0])

    async def _store(self, plan: Plan) -> Plan | None:
        """Into the transcript, together with the plan's new status; None if it is not to be said, or not by us."""
        context = self.context
        if await self._waits(plan):
            return None
        async with context.stores.read() as tx:
            soul = await tx.souls.get(plan.soul_id)
            known = {one.key: one.value for one in await tx.preferences.of(plan.soul_id, plan.user_id)}
            session = await _session(tx, soul, plan.user_id, context)
        text = await reminder_text(plan, soul, session, known, context)
        now = context.clock()
        message = NewMessage.said_in(
            session, plan.delivery_id, "assistant", text, now, soul_id=plan.soul_id, proactive=True
        )
        async with context.stores.write() as tx:
            if not await tx.plans.said(plan, session.session_id, now):
                return None
            await tx.sessions.ensure(session)
            # Before the message: whoever else writes to the session waits for this row, so that ids are ours.
            await tx.sessions.touch(session.session_id, now)
            await tx.messages.append(session.session_id, [message])
        context.outlets.listeners.session_changed(session, "turn", plan.delivery_id)
        return replace(plan, status="delivered", session_id=session.session_id, delivered_at=now)

    async def _waits(self, plan: Plan) -> bool:
        """In quiet hours only what was wanted at that very time is said; the rest when they end."""
        now = self.context.clock()
        quiet = self.context.persona.life.quiet_hours
        zone = zone_of(plan.zone, self.context.timezone)
        if plan.due is None or may_say(plan.due, plan.grain, now, zone, quiet):
            return False
        async with self.context.stores.write() as tx:
            await tx.plans.release(plan, after_quiet_hours(now, zone, quiet))
        return True

    async def _send(self, plan: Plan) -> None:
        """To the person's terminals and streams. The message is read back: another server may have stored it."""
        context = self.context
        async with context.stores.read() as tx:
            message = await tx.messages.by_turn(plan.session_id, plan.delivery_id)
        terminals: list[str] = []
        streams = 0
        if message:
            payload = Proactive(
                session_id=plan.session_id,
                soul_id=plan.soul_id,
                text=message.content,
                delivery_id=plan.delivery_id,
                ts=message.created_at,
            )
            terminals = await tell_terminals(payload, plan.user_id, context)
            streams = self.listeners.tell(plan.soul_id, plan.user_id, "proactive", payload.model_dump())
        now = context.clock()
        async with context.stores.write() as tx:
            await tx.plans.sent(plan, next_occurrence(plan, now, context.timezone))
        self.listeners.tell(plan.soul_id, plan.user_id, "plans_changed", {"soul_id": plan.soul_id})
        context.telemetry.emit(
            "plan.delivered",
            soul_id=plan.soul_id,
            session_id=plan.session_id,
            plan_id=plan.plan_id,
            kind=plan.kind,
            late_s=round(now - plan.due, 3) if plan.due else 0.0,
            delivered={"terminals": terminals, "streams": streams},
        )


async def _session(tx: Transaction, soul: Soul, user_id: str, context: Context) -> Session:
    """The last conversation in which the two were alone; else the one that they would begin."""
    sessions = await tx.sessions.all(soul.soul_id, _SESSIONS, user_id)
    if private := next((session for session in sessions if not session.people), None):
        return private
    return await new_session(
        tx,
        soul,
        session_id=default_session_id(soul.soul_id, user_id),
        user_id=user_id,
        title="",
        character_id=None,
        background_id=None,
        template_id=context.persona.default_template,
        mode=context.persona.default_mode,
        now=context.clock(),
    )
