"""The soul hears what was said: it moves its mood once, whatever becomes of the turn, and may change its mode."""

from dataclasses import asdict, replace
from typing import cast

from langgraph.runtime import Runtime

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Heard, Said, TurnState
from soulgraph.runtime.tracing.trace import label
from soulgraph.senses.text import normalise
from soulgraph.soul.dynamics import EmotionState, UserEmotion, evolve, impact
from soulgraph.soul.gate import judge
from soulgraph.soul.modes import PersonaState, advance
from soulgraph.soul.personality import Traits
from soulgraph.soul.preferences import GuardState, decide, new_guard
from soulgraph.soul.signals import signals_in
from soulgraph.soul.timestamps import iso
from soulgraph.stores.factories import new_session, title_of
from soulgraph.stores.history import point_of
from soulgraph.stores.records import Session, Soul
from soulgraph.stores.stores import Transaction


async def pad_update(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    context, now = runtime.context, runtime.context.clock()
    heard, text = await _hear(state["said"], state["user_emotion"], context, now), normalise(state["said"]["text"])
    persona_state = mode_now(_newer(state, heard.session), text, context.persona, now)
    label(mbti=heard.soul.mbti_type, persona_mode=persona_state["mode"])
    return {"heard": guarded(heard, text, persona_state, context.persona), "persona_state": persona_state}


async def _hear(said: Said, felt: UserEmotion, context: Context, now: float) -> Heard:
    """Evolve to now, feel the impact, store it: one short transaction on the soul's row."""
    place, turn_id, constants = (said["session_id"], said["input_id"]), said["turn_id"], context.constants
    async with context.stores.write() as tx:
        soul = await tx.souls.lock(said["soul_id"])
        traits, feeling = Traits.from_dict(soul.personality_vector), EmotionState.from_dict(soul.emotion_state)
        if await tx.turns.heard(*place, turn_id, soul.soul_id, asdict(felt), now):
            feeling = impact(traits, feeling, felt, now, constants)
            gate = judge(traits, feeling, now, constants)
            await tx.history.add_turn(soul.turns, point_of(soul.soul_id, feeling, gate))
            soul = replace(soul, turns=soul.turns + 1)
        else:
            before = await tx.turns.get(*place)
            felt, turn_id = UserEmotion(**before.user_emotion), before.turn_id
            feeling = evolve(traits, feeling, now, constants)
        soul = replace(soul, emotion_state=feeling.to_dict())
        await tx.souls.feel(soul.soul_id, soul.emotion_state, soul.turns, now)
        session = await tx.sessions.find(said["session_id"]) or await first_session(tx, soul, said, context, now)
    return Heard(now, turn_id, felt, soul, feeling, session)


async def first_session(tx: Transaction, soul: Soul, said: Said, context: Context, now: float) -> Session:
    """The session that begins with these words; a turn stores it at its end, so a failed first turn leaves none."""
    return await new_session(
        tx,
        soul,
        session_id=said["session_id"],
        user_id=said["user_id"],
        title=title_of(said["text"]),
        character_id=said.get("character_id"),
        background_id=said.get("background_id"),
        template_id=said.get("template_id") or context.persona.default_template,
        mode=context.persona.default_mode,
        now=now,
    )


def guarded(heard: Heard, text: str, persona_state: PersonaState, persona: PersonaConfig) -> Heard:
    """What of it is a wish for how to be treated, and whether it is to be kept; written with the turn."""
    if not persona.write_back:
        return heard
    before = cast(GuardState, heard.session.guard) or new_guard()
    guard, decisions = decide(before, text, signals_in(text), persona_state["mode"])
    return replace(heard, guard=guard, decisions=decisions)


def _newer(state: TurnState, session: Session) -> PersonaState:
    """The session's row is written with the turn, the checkpoint after it: a crash between them costs nothing."""
    behind = state.get("turn", 0) > session.turn
    return state["persona_state"] if behind else session.persona_state


def mode_now(current: PersonaState, text: str, persona: PersonaConfig, now: float) -> PersonaState:
    if not persona.dynamic_modes:
        return current
    return advance(current, text, persona.default_mode, persona.mode_ttl_turns, iso(now))
