"""Everything a turn changed, in one transaction, with the answer itself and the work that follows it."""

from dataclasses import asdict

from langgraph.runtime import Runtime

from soulgraph.graph.context import Context
from soulgraph.graph.state import Json, TurnState
from soulgraph.nodes.emotion import UNKNOWN
from soulgraph.soul.moments import iso
from soulgraph.soul.profile import apply
from soulgraph.stores.stores import Transaction


async def writeback(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    context, now = runtime.context, runtime.context.clock()
    heard, session = state["heard"], state["heard"].session
    turn, answer = session.turn + 1, _answer(state, context.voice.name)
    follow_up = {"state_changed": answer["state_changed"]}
    async with context.stores.write() as tx:
        if turn == 1:
            await tx.sessions.ensure(session)
        await tx.sessions.advance(session.session_id, turn, state["persona_state"], now)
        await tx.messages.append(session.session_id, _messages(state, now))
        await _grow(tx, state, now)
        await tx.turns.answered(session.session_id, state["said"]["input_id"], answer)
        await tx.outbox.add("afterglow", session.soul_id, session.session_id, heard.turn_id, follow_up, now)
    runtime.stream_writer({"event": "done", "data": answer})
    return {"turn": turn, "answer": answer}


async def _grow(tx: Transaction, state: TurnState, now: float) -> None:
    soul_id, update = state["said"]["soul_id"], state["result"].state_update
    if not update.is_empty:
        soul = await tx.souls.lock(soul_id)  # read again: another session may have changed it meanwhile
        await tx.souls.grow(soul_id, apply(soul.dynamic_profile, update, iso(now)), now)
    if facts := state.get("remembered"):
        for n, fact in zip(await tx.slots.free(soul_id), facts, strict=False):
            await tx.slots.put(soul_id, n, fact, now)


def _messages(state: TurnState, now: float) -> list[Json]:
    said, heard = state["said"], state["heard"]
    words = {"role": "user", "content": said["text"], "input_id": said["input_id"], "created_at": heard.at}
    reply = {"role": "assistant", "content": state["result"].reply, "input_id": None, "created_at": now}
    return [{**message, "turn_id": heard.turn_id, "archived": False} for message in (words, reply)]


def _answer(state: TurnState, voice: str) -> Json:
    said, heard, result = state["said"], state["heard"], state["result"]
    filtered, gate = state["filtered"], state["gate"]
    return {
        "session_id": said["session_id"],
        "turn_id": heard.turn_id,
        "soul_id": said["soul_id"],
        "terminal_id": said.get("terminal_id"),
        "reply": result.reply,
        "intent_decision": filtered.decision.model_dump(),
        "intents": [intent.model_dump() for intent in filtered.intents],
        "executed_skills": result.executed,
        "intent_action_publish_ok": result.delivered,
        "exec_mode": gate.exec_mode,
        "exec_probability": gate.exec_probability,
        "user_emotion": asdict(heard.user_emotion) | {"unavailable": heard.user_emotion == UNKNOWN},
        "soul_emotion": heard.soul.emotion_state,
        "persona": state.get("persona", _no_persona(state)),
        "state_changed": not result.state_update.is_empty,
        "voice": voice,
    }


def _no_persona(state: TurnState) -> Json:
    """An intent is answered without building a prompt."""
    return {"mode": state["persona_state"]["mode"], "sources": [], "memory_hits": 0, "truncated": False}
