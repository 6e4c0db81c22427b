"""Everything a turn changed, in one transaction, with the answer itself and the work that follows it."""

from dataclasses import asdict

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.emotion import UNKNOWN
from soulgraph.nodes.state import Heard, Json, TurnState, Work
from soulgraph.runtime.budget import charge
from soulgraph.runtime.telemetry import Telemetry
from soulgraph.runtime.tracing.trace import labels
from soulgraph.soul.modes import changed
from soulgraph.soul.preferences import new_guard
from soulgraph.soul.profile import apply
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import title_of
from soulgraph.stores.records import Preference
from soulgraph.stores.stores import Transaction
from soulgraph.voices.usage import Usage, spending


async def writeback(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    context, now = runtime.context, runtime.context.clock()
    heard, session = state["heard"], state["heard"].session
    meter = spending()
    usage = meter.spent
    turn, answer = session.turn + 1, _answer(state, context.voice.name, usage)
    async with context.stores.write() as tx:
        if turn == 1:
            await tx.sessions.ensure(session)
            if not session.title:
                await tx.sessions.retitle(session.session_id, title_of(state["said"]["text"]), now)
        await tx.sessions.advance(session.session_id, turn, state["persona_state"], now)
        said = await tx.messages.append(session.session_id, _messages(state, now))
        await _grow(tx, state, now)
        await _keep_preferences(tx, heard, now)
        await tx.turns.answered(session.session_id, state["said"]["input_id"], answer)
        work = _work_after(state, said[-1])
        await tx.outbox.add("afterglow", session.soul_id, session.session_id, heard.turn_id, {**work}, now)
        await charge(tx, context, session.soul_id, "turn", usage)
    meter.written = usage
    _tell(state, answer, context.telemetry)
    runtime.stream_writer({"event": "done", "data": answer})
    return {"turn": turn, "answer": answer}


def _work_after(state: TurnState, last_message: int) -> Work:
    """What goes on with this turn when its reply is out."""
    update = state["result"].state_update
    return {
        "last_message": last_message,
        "archive_now": not update.is_empty,
        "state_changes": update.in_words(),
        "soul_turn": state["heard"].soul.turns,
        "labels": labels(),
    }


async def _grow(tx: Transaction, state: TurnState, now: float) -> None:
    """The soul is read again under its lock: another session may have changed it meanwhile."""
    soul_id, update, facts = state["said"]["soul_id"], state["result"].state_update, state.get("remembered")
    if update.is_empty and not facts:
        return
    soul = await tx.souls.lock(soul_id)
    await tx.souls.grow(soul_id, apply(soul.dynamic_profile, update, iso(now)), now)
    for n, fact in zip(await tx.slots.free(soul_id), facts or [], strict=False):
        await tx.slots.put(soul_id, n, fact, now)


async def _keep_preferences(tx: Transaction, heard: Heard, now: float) -> None:
    """What came through one of the guard's doors, and what the guard remembers of the rest."""
    session = heard.session
    for decision in heard.decisions:
        if decision.verdict == "persist":
            key, value, confidence = decision.key, decision.value, decision.confidence
            kept = Preference(session.soul_id, key, value, confidence, decision.reason, decision.evidence, now)
            await tx.preferences.put(kept)
    if heard.guard != (session.guard or new_guard()):
        await tx.sessions.set_guard(session.session_id, dict(heard.guard))


def _messages(state: TurnState, now: float) -> list[Json]:
    said, heard = state["said"], state["heard"]
    words = {"role": "user", "content": said["text"], "input_id": said["input_id"], "created_at": heard.at}
    reply = {"role": "assistant", "content": state["result"].reply, "input_id": None, "created_at": now}
    return [{**message, "turn_id": heard.turn_id, "archived": False} for message in (words, reply)]


def _answer(state: TurnState, voice: str, usage: Usage) -> Json:
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
        "usage": asdict(usage),
    }


def _no_persona(state: TurnState) -> Json:
    """An intent is answered without building a prompt."""
    return {"mode": state["persona_state"]["mode"], "sources": [], "memory_hits": 0, "truncated": False}


def _tell(state: TurnState, answer: Json, telemetry: Telemetry) -> None:
    """The persona's decisions and the turn itself, for whoever asks later why."""
    heard, gate = state["heard"], state["gate"]
    where = {"session_id": answer["session_id"], "soul_id": answer["soul_id"], "turn_id": answer["turn_id"]}
    if switch := changed(heard.session.persona_state, state["persona_state"]):
        telemetry.emit("persona.mode.changed", **where, **switch._asdict())
    for decision in heard.decisions:
        kind = "persisted" if decision.verdict == "persist" else "rejected"
        telemetry.emit(f"persona.preference.{kind}", **where, writeback_decision=decision.to_dict())
    felt = heard.soul_emotion
    telemetry.emit(
        "turn.completed",
        **where,
        **state["latency"],
        p=felt.p,
        a=felt.a,
        d=felt.d,
        boredom=felt.boredom,
        shock_load=felt.shock_load,
        extreme_memory=felt.extreme_memory,
        exec_probability=gate.exec_probability,
        exec_mode=gate.exec_mode,
        skill_invocation_gate="open" if gate.exec_mode == "auto_execute" else "closed",
        intent_decision=answer["intent_decision"],
        intent_action_publish_ok=answer["intent_action_publish_ok"],
        sources=answer["persona"]["sources"],
    )
