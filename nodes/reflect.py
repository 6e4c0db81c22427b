"""Renews the soul's inner monologue after some messages, and keeps in its slots what it wants to remember."""

from dataclasses import dataclass

from langgraph.runtime import Runtime

from soulgraph.errors import Conflict
from soulgraph.nodes.context import Context
from soulgraph.nodes.self_image import self_image
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.nodes.transcript import as_heard, language_of
from soulgraph.stores.memory import user_name
from soulgraph.stores.records import Message, Session, Slot, Soul
from soulgraph.stores.stores import Transaction
from soulgraph.voices.tasks import REFLECT, Reflection, run_task

EVERY = 10
"""Messages of a session between two reflections."""

_MAX_MESSAGES = 40


@dataclass(frozen=True, slots=True)
class _Material:
    """What the soul reflects on, as it was read."""

    soul: Soul
    session: Session
    slots: list[Slot]
    user_name: str | None
    messages: list[Message]


async def reflect(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """A reflection that fails leaves everything as it was, and what was said is still to be thought about."""
    follow_up = state["follow_up"]
    context = runtime.context
    material = await _material(follow_up, context)
    if material is None:
        return state
    async with context.budget.background(material.soul.soul_id, "reflect"):
        lang = language_of(material.messages)
        thought = await run_task(
            context.voice.model,
            REFLECT,
            lang,
            **self_image(material.soul, material.session, context, lang),
            messages=as_heard(material.messages[-_MAX_MESSAGES:], material.user_name, lang),
            inner_state=material.soul.inner_state,
            slots=[{"n": slot.n, "content": slot.content} for slot in material.slots],
        )
    async with context.stores.write() as tx:
        kept = await _keep(tx, material, thought, follow_up, context.clock())
    context.telemetry.emit(
        "soul.reflected",
        session_id=follow_up["session_id"],
        soul_id=follow_up["soul_id"],
        turn_id=follow_up["turn_id"],
        slots=kept,
        sources=[f"episode:{message.message_id}" for message in material.messages],
    )
    return state


async def _material(follow_up: FollowUp, context: Context) -> _Material | None:
    """None while there are too few new messages."""
    async with context.stores.read() as tx:
        session = await tx.sessions.find(follow_up["session_id"])
        if session is None:
            return None
        said = await tx.messages.page(session.session_id, session.reflected_to)
        messages = [message for message in said if message.message_id <= follow_up["last_message"]]
        if len(messages) < EVERY:
            return None
        soul = await tx.souls.get(session.soul_id)
        preferences = await tx.preferences.all(soul.soul_id)
        return _Material(soul, session, await tx.slots.all(soul.soul_id), user_name(preferences), messages)


async def _keep(
    tx: Transaction, material: _Material, thought: Reflection, follow_up: FollowUp, now: float
) -> list[int]:
    """Store monologue and slots; returns the slots written. What has changed since it was read is not overwritten.

    The session's row is written before the soul's, as a turn does it: else the two could wait for each other.
    """
    soul_id = material.soul.soul_id
    await tx.sessions.reflected(follow_up["session_id"], material.messages[-1].message_id)
    if (await tx.souls.lock(soul_id)).inner_state != material.soul.inner_state:
        raise Conflict("soul_has_thought", "another conversation has made this soul think meanwhile: think again")
    await tx.monologues.think(soul_id, thought.inner_state, f"reflection:{follow_up['turn_id']}", now)
    changed = {slot.n for slot in {*await tx.slots.all(soul_id)} ^ {*material.slots}}
    kept = [slot for slot in thought.slots if slot.n not in changed]
    for slot in kept:
        await tx.slots.put(soul_id, slot.n, slot.content, now)
    return [slot.n for slot in kept]
