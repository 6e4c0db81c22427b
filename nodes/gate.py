"""Will the soul act, given how it feels? Whoever is watching, and its terminal, are told."""

from dataclasses import asdict
from typing import Literal

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState
from soulgraph.runtime.tracing.trace import label
from soulgraph.soul.gate import judge
from soulgraph.soul.personality import Traits
from soulgraph.terminals.payloads import EmotionUpdate


async def gate(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    said, heard = state["said"], state["heard"]
    traits = Traits.from_dict(heard.soul.personality_vector)
    verdict = judge(traits, heard.soul_emotion, runtime.context.clock(), runtime.context.constants)
    feeling = {
        "user_emotion": asdict(heard.user_emotion),
        "soul_emotion": heard.soul.emotion_state,
        "exec_probability": verdict.exec_probability,
        "exec_mode": verdict.exec_mode,
    }
    label(exec_mode=verdict.exec_mode)
    runtime.stream_writer({"event": "emotion", "data": feeling})
    terminal_id, hub = said.get("terminal_id"), runtime.context.hub
    if terminal_id and hub:
        names = {"session_id": said["session_id"], "soul_id": said["soul_id"], "terminal_id": terminal_id}
        hub.emotion_update(EmotionUpdate(**names, **feeling, ts=heard.at))
    return {"gate": verdict}


async def act_or_talk(state: TurnState) -> Literal["intent_action", "persona_context"]:
    """A matched intent is acted on, or asked about, when the soul is able to; everything else is talked about."""
    able = state["gate"].exec_mode == "auto_execute"
    return "intent_action" if able and state["filtered"].intents else "persona_context"
