"""Moves the soul's emotion by what was said, once per input, and decides the session's mode and wishes.

Whatever becomes of the turn later, what was heard counts: this is the first of its two writes.
"""

from dataclasses import replace

from langgraph.runtime import Runtime

from soulgraph.errors import Conflict
from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.context import Context
from soulgraph.nodes.person import read_person
from soulgraph.nodes.state import Impact, TurnState, Utterance
from soulgraph.senses.text import normalise
from soulgraph.soul.dynamics import evolve
from soulgraph.soul.emotions import EmotionState, UserEmotion
from soulgraph.soul.gate import judge
from soulgraph.soul.impact import impact as apply_impact
from soulgraph.soul.modes import PersonaState, advance, one_turn_later
from soulgraph.soul.preferences import GuardState, decide
from soulgraph.soul.profile import known_to
from soulgraph.soul.signals import signals_in
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import new_session, title_of
from soulgraph.stores.history import point_of
from soulgraph.stores.records import Session, Soul
from soulgraph.stores.stores import Transaction
from soulgraph.stores.turns import Before


async def pad_update(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    context = runtime.context
    now = context.clock()
    text = normalise(state["utterance"]["text"])
    impact = await _hear(state["utterance"], state["user_emotion"], context, now)
    persona_state = _newer(state, impact.session)
    if not impact.regenerated:
        persona_state = _mode_now(persona_state, text, context.persona, now)
    context.telemetry.label(mbti=impact.soul.mbti_type, persona_mode=persona_state["mode"])
    guarded = _guarded(impact, state["utterance"]["user_id"], text, persona_state, context.persona)
    return {"impact": guarded, "persona_state": persona_state}


async def _hear(utterance: Utterance, user_emotion: UserEmotion, context: Context, now: float) -> Impact:
    """Evolve the emotion to now, apply the impact, store it: one short transaction on the soul's row.

    An input that was heard before does not move the soul again: the turn goes on with what was recognised then. One
    that replaces a message is a turn of its own all the same; where that is unsaid, the soul is moved from where it was
    before.
    """
    session_id, input_id, turn_id = utterance["session_id"], utterance["input_id"], utterance["turn_id"]
    constants = context.constants
    regenerated = False
    async with context.stores.write() as tx:
        soul = await tx.souls.lock(utterance["soul_id"])
        traits = soul.personality_vector
        earlier = await _unsaid(tx, soul, utterance)
        before: Before = {"emotion_state": earlier.emotion_state.to_dict(), "turns": earlier.turns}
        felt = user_emotion.to_dict()
        first_time = await tx.turns.heard(session_id, input_id, turn_id, soul.soul_id, felt, now, before)
        if first_time:
            await tx.history.drop_turns(soul.soul_id, earlier.turns, soul.turns)
            soul = _moved(earlier, user_emotion, context, now)
            point = point_of(soul.soul_id, soul.emotion_state, judge(traits, soul.emotion_state, now, constants))
            await tx.history.add_turn(soul.turns - 1, point)
        else:
            heard = await tx.turns.get(session_id, input_id)
            user_emotion = UserEmotion.from_dict(heard.user_emotion)
            regenerated = heard.answer is not None
            if regenerated and utterance.get("replaces") is None and not context.rehearsing:
                # Only if its lock was lost with the database's connection, after it was seen that there is no answer.
                raise Conflict("turn_superseded", "another server has just answered this input: retry")
            turn_id = heard.turn_id if utterance.get("replaces") is None else turn_id
            soul = replace(soul, emotion_state=evolve(traits, soul.emotion_state, now, constants))
        await tx.souls.feel(soul.soul_id, soul.emotion_state, soul.turns, now)
        session = await tx.sessions.find(session_id) or await first_session(tx, soul, utterance, context, now)
        person = await read_person(tx, session, soul.soul_id, utterance["user_id"])
    return Impact(
        now,
        turn_id,
        user_emotion,
        replace(soul, dynamic_profile=known_to(soul.dynamic_profile, session.audience)),
        soul.emotion_state.to_dict(),
        session,
        preferences={} if context.persona.static else person.preferences,
        relation=person.relation,
        names=person.names,
        regenerated=regenerated,
    )


async def _unsaid(tx: Transaction, soul: Soul, utterance: Utterance) -> Soul:
    """The soul as it was before what is unsaid; as it is if nothing is, or if anything else has moved it since."""
    replaced = utterance.get("replaces")
    if replaced is None or not utterance.get("unsaid"):
        return soul
    taken = await tx.messages.page(utterance["session_id"], replaced - 1)
    inputs = [message.input_id for message in taken if message.role == "user"]
    before = await tx.turns.before(utterance["session_id"], inputs[0]) if inputs and inputs[0] else None
    if before is None or before["turns"] + len(inputs) != soul.turns:
        return soul
    return replace(soul, emotion_state=EmotionState.from_dict(before["emotion_state"]), turns=before["turns"])


def _moved(soul: Soul, user_emotion: UserEmotion, context: Context, now: float) -> Soul:
    emotion = apply_impact(soul.personality_vector, soul.emotion_state, user_emotion, now, context.constants)
    return replace(soul, emotion_state=emotion, turns=soul.turns + 1)


async def first_session(tx: Transaction, soul: Soul, utterance: Utterance, context: Context, now: float) -> Session:
    """The session that begins with this utterance. A turn stores it at its end, so a failed first turn leaves none."""
    return await new_session(
        tx,
        soul,
        session_id=utterance["session_id"],
        user_id=utterance["user_id"],
        title=title_of(utterance["text"]),
        character_id=utterance.get("character_id"),
        background_id=utterance.get("background_id"),
        template_id=utterance.get("template_id") or context.persona.default_template,
        mode=context.persona.default_mode,
        now=now,
    )


def _guarded(impact: Impact, user_id: str, text: str, persona_state: PersonaState, persona: PersonaConfig) -> Impact:
    """With the wishes found in the text and what the guard decides about them; they are stored with the turn.

    Wishes of a text that is answered anew were counted before: they hold for the reply, and none is kept again.
    """
    if not persona.write_back:
        return impact
    before = impact.session.guard_of(user_id)
    if impact.regenerated:
        settled: GuardState = {"hints": before["hints"], "pending": None}
        _, decisions = decide(settled, text, signals_in(text), persona_state["mode"])
        return replace(impact, guard=before, decisions=[one for one in decisions if one.verdict != "persist"])
    guard, decisions = decide(before, text, signals_in(text), persona_state["mode"])
    return replace(impact, guard=guard, decisions=decisions)


def _newer(state: TurnState, session: Session) -> PersonaState:
    """The session's row is written with the turn, the checkpoint after it: a crash between the two loses nothing."""
    behind = state.get("turn", 0) > session.turn
    return state["persona_state"] if behind else session.persona_state


def _mode_now(current: PersonaState, text: str, persona: PersonaConfig, now: float) -> PersonaState:
    """With `dynamic_modes` off nothing that is said changes the mode; one that was chosen over HTTP still ends."""
    if not persona.dynamic_modes:
        return one_turn_later(current, persona.default_mode, iso(now))
    return advance(current, text, persona.default_mode, persona.mode_ttl_turns, iso(now))
