"""The soul says it: to every terminal and stream that can hear it now, and then into the transcript."""

import asyncio
from typing import Literal

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Moment, ProactiveState
from soulgraph.stores.factories import new_id
from soulgraph.terminals.payloads import Proactive


async def speak_up(state: ProactiveState, runtime: Runtime[Context]) -> ProactiveState:
    """Nothing is stored unless somebody heard it; no turn of the session comes in between."""
    context, moment, impulse = runtime.context, state["moment"], state["impulse"]
    soul_id, session_id = moment.soul.soul_id, moment.session.session_id
    async with context.locks.hold(session_id):
        if objection := await _too_late(moment, context):
            return {"silence": objection}
        said = Proactive(session_id=session_id, soul_id=soul_id, text=impulse.text, ts=context.clock())
        terminals = await _tell_terminals(said, context)
        streams = context.listeners.tell(soul_id, "proactive", said.model_dump())
        if not terminals and not streams:
            return {"silence": "nobody could be reached"}
        await _keep(said, context)
    context.telemetry.emit(
        "life.spoke",
        soul_id=soul_id,
        session_id=session_id,
        reason=impulse.reason,
        sources=state["sources"],
        delivered={"terminals": terminals, "streams": streams},
    )
    return {}


async def _too_late(moment: Moment, context: Context) -> str:
    """What may have changed while the model was thinking."""
    if context.local_time() in context.persona.life.quiet_hours:
        return "the quiet hours have begun"
    async with context.stores.read() as tx:
        soul = await tx.souls.get(moment.soul.soul_id)
        await tx.sessions.get(moment.session.session_id)
    return "" if soul.turns == moment.soul.turns else "they have begun to talk"


async def _tell_terminals(said: Proactive, context: Context) -> list[str]:
    """The terminals that were told, as far as the broker knows."""
    if context.hub is None:
        return []
    async with context.stores.read() as tx:
        awake = [terminal for terminal, soul_id in await tx.terminals.awake(said.ts) if soul_id == said.soul_id]
    told = await asyncio.gather(*(context.hub.proactive(terminal, said) for terminal in awake))
    return [terminal for terminal, has_it in zip(awake, told, strict=True) if has_it]


async def _keep(said: Proactive, context: Context) -> None:
    message = {
        "turn_id": new_id("life"),
        "role": "assistant",
        "content": said.text,
        "archived": False,
        "input_id": None,
        "created_at": said.ts,
        "proactive": True,
    }
    async with context.stores.write() as tx:
        await tx.messages.append(said.session_id, [message])
        await tx.sessions.touch(said.session_id, said.ts)
        await tx.lives.spoke(said.soul_id, context.local_time(said.ts).date().isoformat())


def heard_or_not(state: ProactiveState) -> Literal["__end__", "stay_silent"]:
    return "stay_silent" if state["silence"] else "__end__"
