"""Decides, without asking a model, whether the soul might say something of its own accord now."""

from typing import Literal

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Occasion, ProactiveState
from soulgraph.soul.dynamics import evolve
from soulgraph.soul.gate import ExecMode, judge

_SESSIONS = 20  # the last ones, among which one is looked for in which they are alone


async def consider(state: ProactiveState, runtime: Runtime[Context]) -> ProactiveState:
    """The soul would speak to the person that is named, else to the one who talked with it last."""
    context = runtime.context
    now = context.clock()
    async with context.stores.read() as tx:
        soul = await tx.souls.get(state["soul_id"])
        sessions = await tx.sessions.all(soul.soul_id, _SESSIONS, state.get("user_id"))
    private = next((session for session in sessions if not session.people), None)
    if private is None:
        return {"silence": "they have never talked alone"}
    emotion = evolve(soul.personality_vector, soul.emotion_state, now, context.constants)
    exec_mode = judge(soul.personality_vector, emotion, now, context.constants).exec_mode
    occasion = Occasion(now, soul, emotion, private)
    _label(occasion, exec_mode, context)
    return {"occasion": occasion, "silence": _objection(occasion, exec_mode, context)}


def _label(occasion: Occasion, exec_mode: ExecMode, context: Context) -> None:
    session = occasion.session
    context.telemetry.label(
        mbti=occasion.soul.mbti_type,
        session_id=session.session_id,
        persona_mode=session.persona_state["mode"],
        exec_mode=exec_mode,
    )


def _objection(occasion: Occasion, exec_mode: ExecMode, context: Context) -> str:
    """Why the soul stays silent; empty if nothing speaks against it.

    Whatever changes a soul, a turn that still runs included, leaves its time on the soul's row; ticks do not.
    """
    if occasion.at - occasion.soul.updated_at < 60 * context.persona.life.min_interval_minutes:
        return "they have only just been together"
    return "its gate is closed" if exec_mode == "blocked" else ""


def ask_or_not(state: ProactiveState) -> Literal["decide", "stay_silent"]:
    return "stay_silent" if state["silence"] else "decide"
