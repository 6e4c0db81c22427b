"""The soul says it: into the transcript, and then to every terminal and stream of the person that can hear it now."""

from collections.abc import Sequence
from typing import Literal

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.outreach import DELIVERY, LEASE_S, can_reach, deliver
from soulgraph.nodes.plan_records import names_plan
from soulgraph.nodes.state import Occasion, ProactiveState
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import NewMessage, Plan, Session
from soulgraph.terminals.payloads import Proactive


async def speak_up(state: ProactiveState, runtime: Runtime[Context]) -> ProactiveState:
    """Nothing is stored unless somebody can be reached; no turn of the session comes in between."""
    context = runtime.context
    occasion = state["occasion"]
    impulse = state["impulse"]
    soul_id, session_id, user_id = occasion.soul.soul_id, occasion.session.session_id, occasion.session.user_id
    async with context.locks.hold(session_id):
        if objection := await _too_late(occasion, context):
            return {"silence": objection}
        if not await can_reach(soul_id, user_id, context):
            return {"silence": "nobody could be reached"}
        payload = Proactive(
            session_id=session_id,
            soul_id=soul_id,
            text=impulse.text,
            delivery_id=new_id("life"),
            ts=context.clock(),
        )
        await _store(payload, occasion.session, state.get("over", []), context)
        delivered = await deliver(payload, user_id, context)
    context.outlets.listeners.session_changed(occasion.session, "turn", payload.delivery_id)
    context.telemetry.emit(
        "life.spoke",
        soul_id=soul_id,
        session_id=session_id,
        reason=impulse.reason,
        sources=state["sources"],
        delivered=delivered._asdict(),
    )
    return {}


async def _too_late(occasion: Occasion, context: Context) -> str:
    """What may have changed while the model was thinking."""
    if context.local_time() in context.persona.life.quiet_hours:
        return "the quiet hours have begun"
    async with context.stores.read() as tx:
        soul = await tx.souls.get(occasion.soul.soul_id)
        session = await tx.sessions.get(occasion.session.session_id)
    if session.people:
        return "others have joined"
    return "" if soul.turns == occasion.soul.turns else "they have begun to talk"


async def _store(payload: Proactive, session: Session, over: Sequence[Plan], context: Context) -> None:
    """Together with a job that delivers it if this server does not come to it.

    What was asked about, if it was one of the plans that are over, is not asked about again.
    """
    message = NewMessage.said_in(
        session, payload.delivery_id, "assistant", payload.text, payload.ts, soul_id=payload.soul_id, proactive=True
    )
    async with context.stores.write() as tx:
        await tx.messages.append(payload.session_id, [message])
        await tx.sessions.touch(payload.session_id, payload.ts)
        ids = payload.soul_id, payload.session_id, payload.delivery_id
        await tx.outbox.add(DELIVERY, *ids, {"user_id": session.user_id}, payload.ts, payload.ts + LEASE_S)
        today = context.local_time(payload.ts).date().isoformat()
        await tx.proactive_schedules.spoke(payload.soul_id, session.user_id, today)
        for plan in over:
            if names_plan(payload.text, plan):
                await tx.plans.followed_up(plan, payload.ts)


def heard_or_not(state: ProactiveState) -> Literal["__end__", "stay_silent"]:
    return "stay_silent" if state["silence"] else "__end__"
