"""Writes everything that the turn changed in one transaction, with the answer itself and the work that follows it."""

from collections.abc import Sequence
from functools import partial
from typing import cast

from langgraph.runtime import Runtime

from soulgraph.nodes.answer import (
    Answer,
    IntentDecisionReport,
    MatchedIntentReport,
    PersonaReport,
    UpdateFate,
    UserEmotionReport,
)
from soulgraph.nodes.context import Context, Telemetry
from soulgraph.nodes.emotion import UNKNOWN
from soulgraph.nodes.plans import keep_plans, promised_in_reply
from soulgraph.nodes.preferences import keep_preferences, report_decisions
from soulgraph.nodes.sharing import Sharing, heed_permission
from soulgraph.nodes.state import Impact, OutboxPayload, TurnResult, TurnState, Utterance
from soulgraph.nodes.streaming import emit
from soulgraph.soul.emotions import UserEmotion
from soulgraph.soul.gate_words import gate_report
from soulgraph.soul.modes import changed
from soulgraph.soul.people import others
from soulgraph.soul.preferences import GuardState
from soulgraph.soul.profile import apply, owned_by
from soulgraph.soul.scratch import noted
from soulgraph.soul.state_updates import changes_of
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import first_relation, title_of
from soulgraph.stores.records import Message, NewMessage, Slot
from soulgraph.stores.stores import Transaction
from soulgraph.voices.stop import current_stop
from soulgraph.voices.usage import Usage, current_meter


async def writeback(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    context = runtime.context
    now = context.clock()
    utterance = state["utterance"]
    user_id = utterance["user_id"]
    impact = state["impact"]
    session = impact.session
    meter = current_meter()
    usage = meter.spent
    answer = _answer(state, context.voice.name, usage)
    promises = await promised_in_reply(state, context)
    async with context.stores.write() as tx:
        if session.turn == 0:
            await tx.souls.get(impact.soul.soul_id)  # it may have been deleted meanwhile, with all that it has
            await tx.sessions.ensure(session)
            if not session.title:
                await tx.sessions.retitle(session.session_id, title_of(utterance["text"]), now)
        if impact.relation is None:
            await tx.relations.ensure(first_relation(impact.soul, user_id, impact.names.get(user_id), now))
        taken_back = await _take_back(tx, utterance)
        turn = session.turn + 1 - _unsaid(utterance, taken_back)
        await tx.sessions.advance(session.session_id, turn, state["persona_state"], now, session.turn)
        if taken_back and session.title == title_of(taken_back[0].content):
            await tx.sessions.retitle(session.session_id, title_of(utterance["text"]), now)
        sharing = await heed_permission(tx, state)
        message_ids = await tx.messages.append(session.session_id, _messages(state, sharing.shared_with, now))
        await _grow(tx, state, now)
        present = others(user_id, session.audience)
        await keep_preferences(tx, impact.soul.soul_id, user_id, impact.decisions, now, present)
        guard = _guard(impact, taken_back, message_ids[-1])
        if guard != session.guard_of(user_id):
            await tx.sessions.set_guard(session.session_id, {**session.guard, user_id: guard})
        planned = await keep_plans(tx, state, promises, message_ids, now)
        await tx.turns.answered_anew(session.session_id, utterance["input_id"], impact.turn_id, {**answer})
        job = _job(state, message_ids[-1], context.telemetry)
        await tx.outbox.add("afterglow", impact.soul.soul_id, session.session_id, impact.turn_id, {**job}, now)
        await context.budget.charge(tx, impact.soul.soul_id, "turn", usage)
    meter.written = usage
    forgetful = {impact.soul.soul_id} if sharing.changed else set()
    for soul_id in forgetful.union(*(message.witnesses for message in taken_back)):
        if context.memory.recall:
            context.memory.recall.forget_index(soul_id)
    _report(state, answer, sharing, context.telemetry)
    if planned:
        context.outlets.listeners.tell(impact.soul.soul_id, user_id, "plans_changed", {"soul_id": impact.soul.soul_id})
    context.outlets.listeners.session_changed(session, "edited" if taken_back else "turn", impact.turn_id)
    emit("done", answer, runtime)
    return {"turn": turn, "answer": answer}


async def _take_back(tx: Transaction, utterance: Utterance) -> list[Message]:
    """Delete the message that is replaced and all after it, and the work that was to follow them."""
    replaced = utterance.get("replaces")
    if replaced is None:
        return []
    await tx.outbox.drop_from(utterance["session_id"], replaced)
    taken = await tx.messages.take_back(utterance["session_id"], replaced)
    await tx.plans.forget(utterance["soul_id"], [message.message_id for message in taken])
    if utterance.get("unsaid"):
        inputs = {message.input_id for message in taken if message.input_id}
        await tx.turns.forget(utterance["session_id"], inputs - {utterance["input_id"]})
    return taken


def _unsaid(utterance: Utterance, taken_back: Sequence[Message]) -> int:
    """How many turns of the session count no more."""
    return sum(message.role == "user" for message in taken_back) if utterance.get("unsaid") else 0


def _guard(impact: Impact, taken_back: Sequence[Message], last_message: int) -> GuardState:
    """A model that was asked about the wishes in a text is not asked again when it is answered anew."""
    asked_to = impact.guard.get("proposed_to", 0)
    if impact.regenerated and taken_back and asked_to >= taken_back[0].message_id:
        return {**impact.guard, "proposed_to": last_message}
    return impact.guard


def _job(state: TurnState, last_message: int, telemetry: Telemetry) -> OutboxPayload:
    """What goes on with this turn when its reply is out."""
    update = state["result"].state_update
    return {
        "last_message": last_message,
        "user_id": state["utterance"]["user_id"],
        "update_pending": state["result"].update_pending,
        "archive_now": not update.is_empty,
        "state_changes": changes_of(state["impact"].soul.dynamic_profile, update),
        "soul_turn": state["impact"].soul.turns,
        "labels": telemetry.labels(),
    }


async def _grow(tx: Transaction, state: TurnState, now: float) -> None:
    """The soul is read again under its lock: another session may have changed it since it was read.

    What it keeps is the person's who spoke, and known to all who were present.
    """
    soul_id, user_id = state["utterance"]["soul_id"], state["utterance"]["user_id"]
    audience = state["impact"].session.audience
    present = others(user_id, audience)
    update = state["result"].state_update
    facts = state.get("remembered", [])
    notes = state.get("notes", [])
    if update.is_empty and not facts and not notes:
        return
    soul = await tx.souls.lock(soul_id)
    if not update.is_empty:
        grown = apply(soul.dynamic_profile, update, iso(now), audience, owned_by(user_id, present))
        await tx.souls.grow(soul_id, grown, now)
    if notes:
        relation = await tx.relations.lock(soul_id, user_id, now)
        await tx.relations.note(soul_id, user_id, noted(relation.scratch_area, notes), now)
    for n, fact in zip(await tx.slots.free(soul_id, user_id), facts, strict=False):
        await tx.slots.put(Slot(soul_id, user_id, n, fact, now, present))


def _messages(state: TurnState, shared_with: tuple[str, ...], now: float) -> list[NewMessage]:
    utterance = state["utterance"]
    impact = state["impact"]
    turn_id = impact.turn_id
    said = partial(
        NewMessage.said_in, impact.session, turn_id, user_id=utterance["user_id"], soul_id=utterance["soul_id"]
    )
    return [
        said("user", utterance["text"], impact.at, input_id=utterance["input_id"], shared_with=shared_with),
        said("assistant", state["result"].reply, now),
    ]


def _answer(state: TurnState, voice: str, usage: Usage) -> Answer:
    utterance = state["utterance"]
    impact = state["impact"]
    result = state["result"]
    gate = state["gate"]
    return {
        "session_id": utterance["session_id"],
        "turn_id": impact.turn_id,
        "soul_id": utterance["soul_id"],
        "terminal_id": utterance.get("terminal_id"),
        "replaces": utterance.get("replaces"),
        "reply": result.reply,
        "stopped": current_stop().heeded,
        "intent_decision": cast(IntentDecisionReport, state["intents"].decision.model_dump()),
        "intents": [cast(MatchedIntentReport, intent.model_dump()) for intent in state["intents"].intents],
        "executed_skills": result.executed,
        "intent_action_publish_ok": result.delivered,
        "exec_mode": gate.exec_mode,
        "exec_probability": gate.exec_probability,
        "gate": gate_report(gate, impact.reply_language(utterance["text"])),
        "user_emotion": _user_emotion(impact.user_emotion),
        "soul_emotion": impact.soul_emotion,
        "persona": state.get("persona", _no_persona(state)),
        "state_changed": not result.state_update.is_empty,
        "state_update": _fate(result),
        "voice": voice,
        "usage": {"calls": usage.calls, "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
    }


def _fate(result: TurnResult) -> UpdateFate:
    if result.update_pending:
        return "pending"
    return "unchanged" if result.state_update.is_empty else "applied"


def _user_emotion(emotion: UserEmotion) -> UserEmotionReport:
    return cast(UserEmotionReport, emotion.to_dict() | {"unavailable": emotion == UNKNOWN})


def _no_persona(state: TurnState) -> PersonaReport:
    """An intent is answered without building a prompt."""
    return {"mode": state["persona_state"]["mode"], "sources": [], "memory_hits": 0, "truncated": False, "cut": []}


def _report(state: TurnState, answer: Answer, sharing: Sharing, telemetry: Telemetry) -> None:
    """The persona's decisions and the turn itself, for whoever asks later why."""
    impact = state["impact"]
    gate = state["gate"]
    ids = {"session_id": answer["session_id"], "soul_id": answer["soul_id"], "turn_id": answer["turn_id"]}
    if switch := changed(impact.session.persona_state, state["persona_state"]):
        telemetry.emit("persona.mode.changed", **ids, **switch._asdict())
    report_decisions(impact.decisions, telemetry, **ids)
    if sharing.shared_with or sharing.changed:
        telemetry.emit("memory.shared", **ids, shared_with=sharing.shared_with, earlier=sharing.changed)
    emotion = impact.soul.emotion_state
    telemetry.emit(
        "turn.completed",
        **ids,
        **state["latency"],
        p=emotion.p,
        a=emotion.a,
        d=emotion.d,
        boredom=emotion.boredom,
        shock_load=emotion.shock_load,
        extreme_memory=emotion.extreme_memory,
        exec_probability=gate.exec_probability,
        exec_mode=gate.exec_mode,
        skill_invocation_gate="open" if gate.exec_mode == "auto_execute" else "closed",
        intent_decision=answer["intent_decision"],
        intent_action_publish_ok=answer["intent_action_publish_ok"],
        repaired="problem" in state,
        state_update=answer["state_update"],
        sources=answer["persona"]["sources"],
    )
