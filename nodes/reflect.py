"""Renews the soul's inner monologue after some messages, and keeps in its slots what it wants to remember."""

from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from soulgraph.errors import Conflict, ModelError, ModelTimeout, ModelUnavailable
from soulgraph.nodes.context import Context
from soulgraph.nodes.quality import Heard, keep_monologue, keep_slots, report_refusals
from soulgraph.nodes.self_image import self_image
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.nodes.transcript import as_heard, language_of, speakers_of
from soulgraph.soul.language import Lang
from soulgraph.stores.memory import user_name
from soulgraph.stores.records import Message, Session, Slot, Soul
from soulgraph.stores.stores import Transaction
from soulgraph.voices.task_outputs import Reflection
from soulgraph.voices.tasks import REFLECT, run_task

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

    @property
    def names(self) -> list[str]:
        return [name for name in (self.user_name, self.soul.name) if name]


async def reflect(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """A reflection that fails leaves everything as it was, and what was said is still to be thought about.

    A static soul does not reflect.
    """
    follow_up = state["follow_up"]
    context = runtime.context
    material = None if context.persona.static else await _material(follow_up, context)
    if material is None:
        return state
    async with context.budget.background(material.soul.soul_id, "reflect"):
        thought = await _think(material, follow_up, context)
    async with context.stores.write() as tx:
        kept = await _keep(tx, material, thought, follow_up, context.clock())
    context.telemetry.emit(
        "soul.reflected",
        **_ids(follow_up),
        slots=kept,
        sources=[f"episode:{message.message_id}" for message in material.messages],
    )
    return state


def _ids(follow_up: FollowUp) -> dict[str, str]:
    return {
        "session_id": follow_up["session_id"],
        "soul_id": follow_up["soul_id"],
        "turn_id": follow_up["turn_id"],
    }


async def _think(material: _Material, follow_up: FollowUp, context: Context) -> Reflection:
    """The model's thought, as far as it is one: what it copies, invents or knows already is left out."""
    lang = language_of(material.messages)
    image = self_image(material.soul, material.session, context, lang)
    data = {
        **image,
        "messages": as_heard(material.messages[-_MAX_MESSAGES:], material.user_name, lang),
        "inner_state": material.soul.inner_state,
        "slots": [{"n": slot.n, "content": slot.content} for slot in material.slots],
    }
    thought = await _thought(data, lang, context)
    said = [message.content for message in material.messages if message.role == "user"]
    own = [*image["persona"], image["soul_file"], image["user_file"]]
    heard = Heard(said, material.names, own, speakers_of(material.user_name, lang)["user"])
    inner_state, unthought = keep_monologue(thought.inner_state, material.soul.inner_state, heard)
    quoting = context.voice.habits.carrier == "plain"  # it cannot keep a form, so it is not trusted with words either
    heard = heard._replace(own=[*own, material.soul.inner_state])
    slots, reasons = keep_slots(thought.slots, material.slots, heard, quoting)
    report_refusals(context.telemetry, "monologue", [unthought] if unthought else [], **_ids(follow_up))
    report_refusals(context.telemetry, "slot", reasons, **_ids(follow_up))
    return Reflection.model_construct(inner_state=inner_state, slots=slots)


async def _thought(data: dict[str, Any], lang: Lang, context: Context) -> Reflection:
    """The model's; from one that cannot keep a form only the choice of what to keep, if it makes one."""
    voice = context.voice
    if voice.habits.carrier == "tags":
        return await run_task(voice.model, REFLECT, lang, **data)
    prepared = await run_task(voice.writer, REFLECT, lang, **data)
    try:
        chosen = (await run_task(voice.model, REFLECT, lang, **data)).slots
    except (ModelUnavailable, ModelTimeout):
        raise
    except ModelError:
        chosen = []
    return Reflection.model_construct(inner_state=prepared.inner_state, slots=chosen)


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
    if thought.inner_state != material.soul.inner_state:
        await tx.monologues.think(soul_id, thought.inner_state, f"reflection:{follow_up['turn_id']}", now)
    changed = {slot.n for slot in {*await tx.slots.all(soul_id)} ^ {*material.slots}}
    kept = [slot for slot in thought.slots if slot.n not in changed]
    for slot in kept:
        await tx.slots.put(soul_id, slot.n, slot.content, now)
    return [slot.n for slot in kept]
