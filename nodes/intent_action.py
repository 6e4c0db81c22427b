"""The soul does what was asked and says so in its own tone."""

from langgraph.runtime import Runtime

from soulgraph.graph.context import Context
from soulgraph.graph.state import Result, TurnState
from soulgraph.soul.language import lang_of
from soulgraph.voices.action_lines import action_line


async def intent_action(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    text, intents = state["said"]["text"], state["filtered"].intents
    reply = action_line(intents, state["heard"].soul_emotion, text, lang_of(text))
    ready = [intent for intent in intents if intent.status == "ready"]
    runtime.stream_writer({"event": "intent_action", "data": {"intents": [intent.model_dump() for intent in ready]}})
    runtime.stream_writer({"event": "token", "data": {"text": reply}})
    return {"result": Result(reply, executed=[intent.intent_id for intent in ready])}
