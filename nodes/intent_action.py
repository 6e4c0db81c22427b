"""Publishes what was asked for to the terminal and says so in the soul's tone, without asking a model."""

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnResult, TurnState
from soulgraph.nodes.streaming import emit
from soulgraph.senses.intents.decision import MatchedIntent
from soulgraph.soul.character_words import grades_of
from soulgraph.soul.language import lang_of
from soulgraph.soul.mood import mood_of
from soulgraph.soul.personality import effective
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Soul
from soulgraph.terminals.payloads import IntentAction, IntentCall
from soulgraph.voices.action_lines import action_line
from soulgraph.voices.lines import Speaker


async def intent_action(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """Without a broker the action is recorded in the answer; with one it counts only when the broker has it."""
    text = state["utterance"]["text"]
    intents = state["intents"].intents
    ready = [intent for intent in intents if intent.status == "ready"]
    delivered = await _deliver(ready, state, runtime.context)
    reply = action_line(intents, delivered is not False, _speaker(state["impact"].soul), text, lang_of(text))
    action = {"intents": [intent.model_dump() for intent in ready], "delivered": delivered}
    emit("intent_action", action, runtime)
    emit("token", {"text": reply}, runtime)
    executed = [] if delivered is False else [intent.intent_id for intent in ready]
    return {"result": TurnResult(reply, executed=executed, delivered=delivered)}


def _speaker(soul: Soul) -> Speaker:
    emotion = soul.emotion_state
    return Speaker(mood_of(emotion), grades_of(effective(soul.personality_vector, emotion.drift)))


async def _deliver(ready: list[MatchedIntent], state: TurnState, context: Context) -> bool | None:
    """None when there is nothing to deliver or no broker to deliver it to."""
    utterance = state["utterance"]
    terminal_id = utterance.get("terminal_id")
    hub = context.outlets.hub
    if not ready or terminal_id is None or hub is None:
        return None
    calls = [IntentCall(**intent.model_dump(include=set(IntentCall.model_fields))) for intent in ready]
    return await hub.intent_action(
        IntentAction(
            request_id=new_id("act"),
            session_id=utterance["session_id"],
            terminal_id=terminal_id,
            soul_id=utterance["soul_id"],
            intents=calls,
            exec_probability=state["gate"].exec_probability,
            ts=context.clock(),
        )
    )
