"""Decides whether the soul acts, given how it feels, and tells listeners and its terminal."""

from typing import Any, Literal

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Impact, TurnState, Utterance
from soulgraph.nodes.streaming import emit
from soulgraph.soul.emotion_report import emotion_report
from soulgraph.soul.gate import Gate, judge
from soulgraph.soul.gate_words import gate_report
from soulgraph.terminals.compact_emotion import Feeling
from soulgraph.terminals.payloads import EmotionUpdate


async def gate(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    context = runtime.context
    impact = state["impact"]
    soul = impact.soul
    verdict = judge(soul.personality_vector, soul.emotion_state, context.clock(), context.constants)
    feeling = {
        "user_emotion": impact.user_emotion.to_dict(),
        "soul_emotion": impact.soul_emotion,
        "exec_probability": verdict.exec_probability,
        "exec_mode": verdict.exec_mode,
        "gate": gate_report(verdict, impact.reply_language(state["utterance"]["text"])),
    }
    context.telemetry.label(exec_mode=verdict.exec_mode)
    emit("emotion", feeling, runtime)
    if context.outlets.listeners.hears_emotion(soul.soul_id):
        report = emotion_report(soul.soul_id, soul.emotion_state, verdict, context.constants)
        context.outlets.listeners.emotion_changed(report)
    _publish(state["utterance"], impact, feeling, verdict, context)
    return {"gate": verdict}


def _publish(utterance: Utterance, impact: Impact, feeling: dict[str, Any], verdict: Gate, context: Context) -> None:
    terminal_id = utterance.get("terminal_id")
    hub = context.outlets.hub
    if terminal_id and hub:
        ids = {"session_id": utterance["session_id"], "soul_id": utterance["soul_id"], "terminal_id": terminal_id}
        hub.emotion_update(EmotionUpdate(**ids, **feeling, ts=impact.at))
        soul, label = impact.soul, impact.user_emotion.emotion
        felt = Feeling(soul.soul_id, soul.emotion_state, verdict, impact.at, context.constants, label)
        hub.compact_emotion(terminal_id, felt)


async def act_or_talk(state: TurnState) -> Literal["intent_action", "recall"]:
    """A matched intent is acted on, or asked about, when the soul is able to; everything else is talked about."""
    able = state["gate"].exec_mode == "auto_execute"
    return "intent_action" if able and state["intents"].intents else "recall"
