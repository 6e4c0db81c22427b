"""The soul does what was asked and says so in its own tone."""

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Result, TurnState
from soulgraph.senses.intents.decision import MatchedIntent
from soulgraph.soul.language import lang_of
from soulgraph.stores.factories import new_id
from soulgraph.terminals.payloads import IntentAction, IntentCall
from soulgraph.voices.action_lines import action_line


async def intent_action(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """Without a broker the action is recorded in the answer; with one it counts only when the broker has it."""
    text, intents = state["said"]["text"], state["filtered"].intents
    ready = [intent for intent in intents if intent.status == "ready"]
    delivered = await _deliver(ready, state, runtime.context)
    reply = action_line(intents, delivered is not False, state["heard"].soul_emotion, text, lang_of(text))
    action = {"intents": [intent.model_dump() for intent in ready], "delivered": delivered}
    runtime.stream_writer({"event": "intent_action", "data": action})
    runtime.stream_writer({"event": "token", "data": {"text": reply}})
    executed = [] if delivered is False else [intent.intent_id for intent in ready]
    return {"result": Result(reply, executed=executed, delivered=delivered)}


async def _deliver(ready: list[MatchedIntent], state: TurnState, context: Context) -> bool | None:
    """None when there is nothing to deliver or no broker to deliver it to."""
    said, terminal_id = state["said"], state["said"].get("terminal_id")
    if not ready or terminal_id is None or context.hub is None:
        return None
    calls = [IntentCall(**intent.model_dump(include=set(IntentCall.model_fields))) for intent in ready]
    return await context.hub.intent_action(
        IntentAction(
            request_id=new_id("act"),
            session_id=said["session_id"],
            terminal_id=terminal_id,
            soul_id=said["soul_id"],
            intents=calls,
            exec_probability=state["gate"].exec_probability,
            ts=context.clock(),
        )
    )
