"""Everything a turn changed, in one transaction, with the answer itself and the work that follows it."""

from dataclasses import asdict

from langgraph.runtime import Runtime

from soulgraph.graph.context import Context
from soulgraph.graph.state import Json, TurnState
from soulgraph.soul.moments import iso
from soulgraph.soul.profile import apply
from soulgraph.stores.stores import Transaction

FACT_SLOTS = (*range(10), *range(40, 100))


async def writeback(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    context, now = runtime.context, runtime.context.clock()
    session, turn = state["session"], state["session"].turn + 1
    answer = _answer(state, context.voice.name)
    async with context.stores.write() as tx:
        if turn == 1:
            await tx.sessions.ensure(session)
        await tx.sessions.advance(session.session_id, turn, state["persona_state"], now)
        await tx.messages.append(session.session_id, _messages(state, now))
        await _grow(tx, state, now)
        await tx.turns.answered(session.session_id, state["input_id"], answer)
        await tx.outbox.add(
            "afterglow",
            session.soul_id,
            session.session_id,
            state["turn_id"],
            {"state_changed": answer["state_changed"]},
            now,
        )
    runtime.stream_writer({"event": "done", "data": answer})
    return {"turn": turn, "answer": answer}


async def _grow(tx: Transaction, state: TurnState, now: float) -> None:
    """The soul is read again under its lock: another session may have changed it since this turn began."""
    soul_id, update = state["soul_id"], state["state_update"]
    if not update.is_empty:
        soul = await tx.souls.lock(soul_id)
        await tx.souls.grow(soul_id, apply(soul.dynamic_profile, update, iso(now)), now)
    if facts := state.get("remembered"):
        taken = {slot.n for slot in await tx.slots.all(soul_id)}
        free = [n for n in FACT_SLOTS if n not in taken]
        for n, fact in zip(free, facts, strict=False):
            await tx.slots.put(soul_id, n, fact, now)


def _messages(state: TurnState, now: float) -> list[Json]:
    said = {"role": "user", "content": state["text"], "input_id": state["input_id"], "created_at": state["heard_at"]}
    replied = {"role": "assistant", "content": state["reply"], "input_id": None, "created_at": now}
    return [{**message, "turn_id": state["turn_id"], "archived": False} for message in (said, replied)]


def _answer(state: TurnState, voice: str) -> Json:
    filtered, gate = state["filtered"], state["gate"]
    return {
        "session_id": state["session_id"],
        "turn_id": state["turn_id"],
        "soul_id": state["soul_id"],
        "terminal_id": state.get("terminal_id"),
        "reply": state["reply"],
        "intent_decision": filtered.decision.model_dump(),
        "intents": [intent.model_dump() for intent in filtered.intents],
        "executed_skills": state.get("executed", []),
        "exec_mode": gate.exec_mode,
        "exec_probability": gate.exec_probability,
        "user_emotion": asdict(state["user_emotion"]) | {"unavailable": state["emotion_unavailable"]},
        "soul_emotion": state["soul_emotion"].to_dict(),
        "persona": state.get("persona")
        or {"mode": state["persona_state"]["mode"], "sources": [], "memory_hits": 0, "truncated": False},
        "state_changed": not state["state_update"].is_empty,
        "voice": voice,
    }
