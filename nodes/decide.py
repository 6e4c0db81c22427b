"""Asks the model whether the soul says something of its own accord, and what."""

from dataclasses import dataclass
from typing import Any, Literal

from langgraph.runtime import Runtime

from soulgraph.errors import BudgetExhausted, ModelError
from soulgraph.nodes.context import Context
from soulgraph.nodes.person import Person, fact_of, read_person, speakers_in
from soulgraph.nodes.quality import Reason, addresses, repeats, report_refusals
from soulgraph.nodes.self_image import self_image
from soulgraph.nodes.state import Occasion, ProactiveState
from soulgraph.nodes.transcript import as_heard
from soulgraph.soul.language import Lang, reply_language
from soulgraph.soul.mood import describe
from soulgraph.soul.time_words import duration, time_of_day
from soulgraph.stores.records import Message, Plan, Slot
from soulgraph.voices.plan_words import follow_up_line
from soulgraph.voices.tasks import PROACTIVE, run_task

_MESSAGES = 20
_SILENCE: dict[Reason, str] = {
    "repeats_itself": "it would only repeat itself",
    "speaks_to_itself": "it would speak to itself",
}


@dataclass(frozen=True, slots=True)
class _Known:
    """What is stored that the question rests on."""

    slots: list[Slot]
    person: Person
    messages: list[Message]
    over: list[Plan]

    def fact(self, slot: Slot) -> str:
        return fact_of(slot, self.person.user_id, self.person.names)

    @property
    def inner_state(self) -> str:
        """What the soul thinks of the person."""
        return self.person.relation.inner_state if self.person.relation else ""


async def decide(state: ProactiveState, runtime: Runtime[Context]) -> ProactiveState:
    """A model that is away, whose answer is unusable twice, or for which no tokens are left, means silence."""
    context = runtime.context
    occasion = state["occasion"]
    known = await _known(occasion, context)
    lang = _language(occasion, known)
    sources = _sources(known)
    try:
        async with context.budget.background(occasion.soul.soul_id, "life"):
            impulse = await run_task(context.voice.model, PROACTIVE, lang, **_material(occasion, known, lang, context))
    except (ModelError, BudgetExhausted) as error:
        return {"sources": sources, "silence": error.detail, "silenced_by": error.code}
    if not impulse.speak:
        return {"sources": sources, "silence": impulse.reason, "silenced_by": "model"}
    if flaw := _flaw(impulse.text, occasion, known):
        ids = {"soul_id": occasion.soul.soul_id, "session_id": occasion.session.session_id}
        report_refusals(context.telemetry, "proactive", [flaw], **ids)
        return {"sources": sources, "silence": _SILENCE[flaw]}
    return {"sources": sources, "impulse": impulse, "over": known.over, "silence": ""}


def _flaw(text: str, occasion: Occasion, known: _Known) -> Reason | None:
    """Why the model's words are better not said."""
    if addresses(text, occasion.soul.name):
        return "speaks_to_itself"
    spoken = [occasion.soul.inner_state, known.inner_state, *(message.content for message in known.messages)]
    return "repeats_itself" if repeats(text, spoken) else None


async def _known(occasion: Occasion, context: Context) -> _Known:
    session = occasion.session
    soul_id, user_id = occasion.soul.soul_id, session.user_id
    async with context.stores.read() as tx:
        slots = await tx.slots.known_to(soul_id, session.audience, user_id)
        messages = await tx.messages.last(session.session_id, _MESSAGES)
        absent = speakers_in(messages, soul_id, user_id) | {slot.user_id for slot in slots} - {user_id}
        over = await tx.plans.to_follow_up(soul_id, user_id, occasion.at)
        return _Known(slots, await read_person(tx, session, soul_id, user_id, absent), messages, over)


def _material(occasion: Occasion, known: _Known, lang: Lang, context: Context) -> dict[str, Any]:
    soul = occasion.soul
    here = context.local_time(occasion.at).replace(tzinfo=None)
    heard_at = [message.created_at for message in known.messages if message.role == "user"]
    return {
        **self_image(soul, occasion.session, context, lang, occasion.session.user_id),
        "inner_state": "\n".join(filter(None, (soul.inner_state, known.inner_state))),
        "mood": describe(occasion.emotion, lang, context.constants),
        "slots": [{"n": slot.n, "content": known.fact(slot)} for slot in known.slots],
        "preferences": known.person.preferences,
        "messages": as_heard(known.messages, known.person.names, lang, soul.soul_id),
        "since": duration(occasion.at - heard_at[-1], lang) if heard_at else None,
        "planned": [follow_up_line(plan, here, lang, context.timezone) for plan in known.over],
        "local_time": time_of_day(context.local_time(occasion.at), lang),
    }


def _language(occasion: Occasion, known: _Known) -> Lang:
    """The one the user wishes for, else the one they talk in; before they have, the character's own."""
    heard = [message.content for message in known.messages if message.role == "user"]
    guard = occasion.session.guard_of(occasion.session.user_id)
    wishes = {key: hint["value"] for key, hint in guard["hints"].items()}
    own = [occasion.session.character_snapshot["base_persona"], occasion.soul.inner_state, occasion.soul.name]
    return reply_language("\n".join(heard or own), known.person.preferences, wishes)


def _sources(known: _Known) -> list[str]:
    slots = [f"slot:{slot.n}" for slot in known.slots]
    preferences = [f"preference:{key}" for key in known.person.preferences]
    plans = [f"plan:{plan.plan_id}" for plan in known.over]
    return [*slots, *preferences, *plans, *(f"message:{message.message_id}" for message in known.messages)]


def speak_or_not(state: ProactiveState) -> Literal["speak_up", "stay_silent"]:
    return "stay_silent" if state["silence"] else "speak_up"
