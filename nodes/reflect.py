"""Renews what the soul thinks of the person and of itself after some messages, and keeps what it wants to remember."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from soulgraph.errors import Conflict, ModelError, ModelTimeout, ModelUnavailable
from soulgraph.nodes.context import Context
from soulgraph.nodes.outside import strangers_in
from soulgraph.nodes.person import Person, read_person, speakers_in, witnessed
from soulgraph.nodes.quality import (
    Heard,
    Reason,
    is_about_itself,
    keep_bond,
    keep_monologue,
    keep_slots,
    report_refusals,
)
from soulgraph.nodes.self_image import self_image
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.nodes.transcript import as_heard, language_of, person_said
from soulgraph.soul.language import Lang
from soulgraph.soul.own_words import own_statements
from soulgraph.soul.people import others
from soulgraph.stores.factories import first_relation
from soulgraph.stores.records import Message, Relation, Session, Slot, Soul
from soulgraph.stores.stores import Transaction
from soulgraph.voices.task_outputs import Reflection
from soulgraph.voices.tasks import REFLECT, run_task

EVERY = 10
"""Messages of a session between two reflections."""

_MAX_MESSAGES = 40


@dataclass(frozen=True, slots=True)
class _Material:
    """What the soul reflects on, as it was read: its own things, and those of the person who spoke last."""

    soul: Soul
    session: Session
    person: Person
    relation: Relation
    slots: list[Slot]
    messages: list[Message]

    @property
    def names(self) -> list[str]:
        return [name for name in (self.person.name, self.soul.name) if name]

    @property
    def said(self) -> list[str]:
        """What the person said."""
        user_id = self.person.user_id
        return [one.content for one in self.messages if one.role == "user" and one.user_id == user_id]


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
    image = self_image(material.soul, material.session, context, lang, material.person.user_id)
    before = "" if material.session.people else material.relation.inner_state
    data = {
        **image,
        "messages": as_heard(material.messages[-_MAX_MESSAGES:], material.person.names, lang, material.soul.soul_id),
        "inner_state": before,
        "about_itself": material.soul.inner_state,
        "slots": [{"n": slot.n, "content": slot.content} for slot in material.slots],
    }
    thought = await _thought(data, lang, context)
    own = [*image["persona"], image["soul_file"], image["user_file"]]
    heard = _heard(material, own, person_said(material.person.name, lang))
    inner_state, unthought = keep_monologue(thought.inner_state, before, heard)
    bond, unbound = keep_bond(thought.bond, material.relation.bond, heard)
    if material.session.people:  # before others it has thought of them all, and of no one person
        inner_state, unthought, bond = material.relation.inner_state, None, material.relation.bond
    quoting = context.voice.habits.carrier == "plain"  # it cannot keep a form, so it is not trusted with words either
    slots, reasons = keep_slots(thought.slots, material.slots, heard._replace(own=[*own, before]), quoting)
    about_itself, refused = _about_itself(thought.about_itself, material, heard, image)
    monologue_flaws = [flaw for flaw in (unthought, refused) if flaw]
    report_refusals(context.telemetry, "monologue", monologue_flaws, **_ids(follow_up))
    report_refusals(context.telemetry, "slot", reasons, **_ids(follow_up))
    report_refusals(context.telemetry, "bond", [unbound] if unbound else [], **_ids(follow_up))
    return Reflection.model_construct(inner_state=inner_state, slots=slots, about_itself=about_itself, bond=bond)


def _heard(material: _Material, own: Sequence[str], speaker: str) -> Heard:
    said = [own_statements(text) for text in material.said]
    replies = [one.content for one in material.messages if one.role == "assistant"]
    return Heard(said, material.names, own, speaker, strangers_in(material.messages), replies)


def _about_itself(new: str, material: _Material, heard: Heard, image: dict[str, Any]) -> tuple[str, Reason | None]:
    """What the soul thinks of itself from now on. Everybody meets it, so nothing of this person may be in it.

    What it has become in this session, and a file about the person, are theirs too.
    """
    old = material.soul.inner_state
    if not new:
        return old, None
    kept, flaw = keep_monologue(new, old, heard)
    *persona, evolved = image["persona"]
    told = [one.content for one in material.messages] + [one.content for one in material.slots]
    told += [material.relation.inner_state, evolved, image["user_file"]]
    names, own = material.person.names.values(), [old, *persona, image["soul_file"]]
    if flaw is None and not is_about_itself(kept, told, names, own):
        return old, "not_for_everybody"
    return kept, flaw


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
    return prepared.model_copy(update={"slots": chosen})


async def _material(follow_up: FollowUp, context: Context) -> _Material | None:
    """None while there are too few new messages, or if the person has left the session."""
    soul_id = follow_up["soul_id"]
    async with context.stores.read() as tx:
        session = await tx.sessions.find(follow_up["session_id"])
        if session is None:
            return None
        user_id = follow_up.get("user_id", session.user_id)
        said = await tx.messages.page(session.session_id, session.reflected_to)
        messages = [message for message in said if message.message_id <= follow_up["last_message"]]
        heard = witnessed(messages, session, soul_id)
        if len(heard) < EVERY or user_id not in session.audience:
            return None
        soul = await tx.souls.get(soul_id)
        person = await read_person(tx, session, soul_id, user_id, speakers_in(heard, soul_id, user_id))
        met = await tx.relations.find(soul_id, user_id)
        relation = met or first_relation(soul, user_id, person.name, context.clock())
        known = await tx.slots.known_to(soul_id, session.audience, user_id)
        slots = [slot for slot in known if slot.user_id == user_id]
        return _Material(soul, session, person, relation, slots, heard)


async def _keep(
    tx: Transaction, material: _Material, thought: Reflection, follow_up: FollowUp, now: float
) -> list[int]:
    """Store monologues and slots; returns the slots written. What has changed since it was read is not overwritten.

    The session's row is written before the soul's, as a turn does it: else the two could wait for each other.
    """
    soul_id, user_id = material.soul.soul_id, material.person.user_id
    source = f"reflection:{follow_up['turn_id']}"
    await tx.sessions.reflected(follow_up["session_id"], follow_up["last_message"])
    soul = await tx.souls.lock(soul_id)
    await tx.relations.ensure(material.relation)
    if (await tx.relations.lock(soul_id, user_id, now)).inner_state != material.relation.inner_state:
        raise Conflict("soul_has_thought", "another conversation has made this soul think meanwhile: think again")
    if thought.inner_state != material.relation.inner_state:
        await tx.monologues.think(soul_id, thought.inner_state, source, now, user_id)
    # Another person may have made it think of itself meanwhile: that thought stays.
    if thought.about_itself != material.soul.inner_state and soul.inner_state == material.soul.inner_state:
        await tx.monologues.think(soul_id, thought.about_itself, source, now)
    if thought.bond and thought.bond != material.relation.bond:
        await tx.relations.bind(soul_id, user_id, thought.bond, now)
    return await _keep_slots(tx, material, thought, now)


async def _keep_slots(tx: Transaction, material: _Material, thought: Reflection, now: float) -> list[int]:
    soul_id, user_id = material.soul.soul_id, material.person.user_id
    present = others(user_id, material.session.audience)
    changed = {slot.n for slot in {*await tx.slots.of(soul_id, user_id)} ^ {*material.slots}}
    kept = [slot for slot in thought.slots if slot.n not in changed]
    for slot in kept:
        await tx.slots.put(Slot(soul_id, user_id, slot.n, slot.content, now, present))
    return [slot.n for slot in kept]
