"""Whether this is a moment in which the soul might say something by itself. No model is asked for that."""

from typing import Literal

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Moment, ProactiveState
from soulgraph.runtime.tracing.trace import label
from soulgraph.soul.dynamics import EmotionState, evolve
from soulgraph.soul.gate import judge
from soulgraph.soul.personality import Traits


async def consider(state: ProactiveState, runtime: Runtime[Context]) -> ProactiveState:
    context, now = runtime.context, runtime.context.clock()
    async with context.stores.read() as tx:
        soul = await tx.souls.get(state["soul_id"])
        sessions = await tx.sessions.all(soul.soul_id, limit=1)
    if not sessions:
        return {"silence": "nobody has ever talked to it"}
    traits = Traits.from_dict(soul.personality_vector)
    feeling = evolve(traits, EmotionState.from_dict(soul.emotion_state), now, context.constants)
    exec_mode = judge(traits, feeling, now, context.constants).exec_mode
    moment = Moment(now, soul, feeling, sessions[0])
    _label(moment, exec_mode)
    return {"moment": moment, "silence": _objection(moment, exec_mode == "blocked", context)}


def _label(moment: Moment, exec_mode: str) -> None:
    session = moment.session
    known = {"session_id": session.session_id, "persona_mode": session.persona_state["mode"], "exec_mode": exec_mode}
    label(mbti=moment.soul.mbti_type, **known)


def _objection(moment: Moment, closed: bool, context: Context) -> str:
    """Whatever changes a soul, a turn that still runs included, leaves its time on the soul's row; ticks do not."""
    if moment.at - moment.soul.updated_at < 60 * context.persona.life.min_interval_minutes:
        return "they have only just been together"
    return "its gate is closed" if closed else ""


def ask_or_not(state: ProactiveState) -> Literal["decide", "stay_silent"]:
    return "stay_silent" if state["silence"] else "decide"
