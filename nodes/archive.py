"""Draws an event from what was said; the messages then leave the prompt.

An event that tells of nobody is for all souls. Any other is private to the soul and to those who were present.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from uuid import NAMESPACE_URL, uuid5

from langgraph.runtime import Runtime

from soulgraph.library.persona_config import EventScope
from soulgraph.memory.events import Event, EventLibrary, Pattern, audience_of
from soulgraph.nodes.context import Context
from soulgraph.nodes.outside import sources_in
from soulgraph.nodes.quality import Reason as Refusal
from soulgraph.nodes.quality import report_refusals
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.nodes.transcript import as_heard, language_of
from soulgraph.senses.common_words import is_common
from soulgraph.senses.grounding import is_small_talk, restates, says_nothing
from soulgraph.senses.planted import planted
from soulgraph.senses.text import normalise
from soulgraph.soul.abstraction import reveals
from soulgraph.soul.language import Lang
from soulgraph.soul.people import DEFAULT_USER, EVERYONE
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Json, Message, Session
from soulgraph.stores.stores import Transaction
from soulgraph.voices.names import names_in
from soulgraph.voices.tasks import EXTRACT_EVENT, run_task

MIN_MESSAGES = 10
"""How many unarchived messages make an event, when the turn has not changed the soul."""

_MAX_MESSAGES = 40
_PRIORITY = re.compile(r", priority \d+$")
_OTHER_SOUL: dict[Lang, str] = {"zh": "另一个角色", "en": "another character"}


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Messages that the soul and the same people have heard."""

    messages: Sequence[Message]
    people: frozenset[str]

    @property
    def ids(self) -> list[int]:
        return [message.message_id for message in self.messages]

    @property
    def said(self) -> list[str]:
        """What each person said, in order, and then what was answered."""
        speakers = dict.fromkeys(message.user_id if message.role == "user" else None for message in self.messages)
        by_speaker = sorted(speakers, key=lambda speaker: speaker is None)
        return [message.content for one in by_speaker for message in self.messages if _is_by(one, message)]


@dataclass(frozen=True, slots=True)
class _Known:
    """Names that the model is told to leave out, all names that an event must not tell, and what was recalled.

    `secrets` is what was recalled and is not for everyone.
    """

    present: Sequence[str]
    everybody: Sequence[str]
    remembered: Sequence[str]
    secrets: Sequence[str]


async def archive(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """Oldest first, one event for each stretch. After a crash the event that was stored already is found again."""
    follow_up = state["follow_up"]
    context = runtime.context
    if context.memory.events:
        while stretch := await _next_stretch(follow_up, context):
            await _archive(stretch, follow_up, context, context.memory.events)
    return state


async def _next_stretch(follow_up: FollowUp, context: Context) -> _Stretch | None:
    """The oldest messages that wait, as long as the same people were present: an event is for those alone."""
    async with context.stores.read() as tx:
        session = await tx.sessions.find(follow_up["session_id"])
        waiting = await tx.messages.unarchived(follow_up["session_id"], follow_up["last_message"])
    if session is None:
        return None
    heard = [one for one in waiting if not session.is_group or one.heard_by((), follow_up["soul_id"])]
    if not heard or not (follow_up["archive_now"] or len(heard) >= MIN_MESSAGES):
        return None
    people = _present(heard[0], session)
    together = takewhile(lambda message: _present(message, session) == people, heard)
    return _Stretch([*together][:_MAX_MESSAGES], people)


def _present(message: Message, session: Session) -> frozenset[str]:
    return frozenset({message.user_id, *message.people} - {""} or session.audience)


def _is_by(speaker: str | None, message: Message) -> bool:
    return speaker == (message.user_id if message.role == "user" else None)


async def _archive(stretch: _Stretch, follow_up: FollowUp, context: Context, library: EventLibrary) -> None:
    ids = stretch.ids
    report = {"session_id": follow_up["session_id"], "soul_id": follow_up["soul_id"], "turn_id": follow_up["turn_id"]}
    refusal = _refusal(stretch, follow_up, context.persona.events)
    known = None if refusal else await _known(stretch, follow_up, context)
    event = await _event(stretch, known, follow_up, context, library) if known else None
    if event and _is_planted(event, stretch):
        event, refusal = None, "planted"
    if known is None or event is None:
        async with context.stores.write() as tx:
            await tx.messages.archive(ids)
        report_refusals(context.telemetry, "event", [refusal or "small_talk"], **report)
        return
    event, reason = _judged(event, [*stretch.said, *known.secrets], known.everybody)
    if reason is None and context.persona.events == "soul":
        reason = "setting"
    audience = audience_of(follow_up["soul_id"], stretch.people) if reason else EVERYONE
    kept = await library.add(event, follow_up["session_id"], follow_up["soul_id"], ids, audience)
    context.telemetry.emit(
        "event.archived",
        **report,
        event_id=kept,
        merged=kept != event.event_id,
        audience="private" if reason else "everyone",
        reason=reason,
        sources=[f"episode:{message_id}" for message_id in ids],
    )


def _is_planted(event: Event, stretch: _Stretch) -> bool:
    """Whether it tells what to do, or what somebody only quoted: all souls would learn it."""
    sources = sources_in(stretch.messages)
    return any(planted(text, sources) for text in _texts_of(event))


def _refusal(stretch: _Stretch, follow_up: FollowUp, scope: EventScope) -> Refusal | None:
    """Why no model is asked: nothing but greetings, thanks and bare feelings were said, and nothing has changed."""
    if scope == "off":
        return "switched_off"
    said = [message.content for message in stretch.messages if message.role == "user"]
    return "small_talk" if not follow_up["state_changes"] and all(map(says_nothing, said)) else None


async def _event(
    stretch: _Stretch, known: _Known, follow_up: FollowUp, context: Context, library: EventLibrary
) -> Event | None:
    """The event that was stored before a crash, or a new one; None if there is nothing in it."""
    ends = follow_up["session_id"], stretch.ids[0], stretch.ids[-1]
    event_id = f"evt_{uuid5(NAMESPACE_URL, repr(ends)).hex}"
    if found := await library.find(event_id):
        return found
    async with context.budget.background(follow_up["soul_id"], "archive"):
        return await _extract(event_id, stretch, known, follow_up, context)


async def _extract(
    event_id: str, stretch: _Stretch, known: _Known, follow_up: FollowUp, context: Context
) -> Event | None:
    """None if the model has made nothing of it that another soul could learn from."""
    messages = stretch.messages
    lang = language_of(messages)
    others = {message.soul_id: _OTHER_SOUL[lang] for message in messages}
    extract = await run_task(
        context.voice.writer,
        EXTRACT_EVENT,
        lang,
        messages=as_heard(messages, others, lang, follow_up["soul_id"]),
        state_changes=follow_up["state_changes"] if messages[-1].message_id == follow_up["last_message"] else [],
        remembered=known.remembered,
        names=known.present,
    )
    if is_small_talk(extract.summary) or restates(extract.summary, known.remembered):
        return None
    return Event(
        event_id,
        extract.summary,
        Pattern(**extract.pattern.model_dump()),
        extract.impact.model_dump(),
        extract.narrative_fragment,
        iso(messages[-1].created_at),
    )


def _judged(event: Event, said: Sequence[str], names: Sequence[str]) -> tuple[Event, str | None]:
    """The event as everyone may read it, or as it is with the reason why they may not.

    Changes of state quote the soul's profile: those that give somebody away are left out of an event for everyone.
    """
    heard = [normalise(text) for text in said]

    def reason_of(*texts: str) -> str | None:
        return reveals(normalise("\n".join(texts)), heard, names, is_common)

    changes: list[Json] = event.impact.get("state_changes", [])
    told = [change for change in changes if reason_of(*_words_of(change)) is None]
    abstract = replace(event, impact={**event.impact, "state_changes": told})
    reason = reason_of(*_texts_of(abstract))
    return (event, reason) if reason else (abstract, None)


def _texts_of(event: Event) -> Iterator[str]:
    pattern = event.pattern
    yield from (event.summary, pattern.precondition, pattern.trigger, pattern.reaction, pattern.impact)
    yield event.narrative_fragment
    yield from (text for change in event.impact["state_changes"] for text in _words_of(change))


def _words_of(change: Json) -> Iterator[str]:
    """What a change says; how important something is points at nobody."""
    return (_PRIORITY.sub("", text) for key, text in change.items() if key != "field")


async def _known(stretch: _Stretch, follow_up: FollowUp, context: Context) -> _Known:
    soul_id = follow_up["soul_id"]
    recall = context.memory.recall
    async with context.stores.read() as tx:
        turns = await tx.turns.of({message.turn_id for message in stretch.messages})
        own = await _names_of_souls(tx, follow_up)
        called = await tx.preferences.addresses(soul_id)
        called_here = await tx.preferences.addresses(soul_id, stretch.people)
        people = [relation.user_id for relation in await tx.relations.all(soul_id)]
    sources = {source for turn in turns if turn.answer for source in turn.answer["persona"]["sources"]}
    remembered = await recall.texts(soul_id, sources) if recall else {}
    async with context.stores.read() as tx:
        uses = await tx.events.uses([source.removeprefix("event:") for source in remembered])
    public = {f"event:{use.event_id}" for use in uses.values() if use.audience == EVERYONE}
    mentioned = names_in(message.content for message in stretch.messages)
    ids = [user_id for user_id in people if user_id != DEFAULT_USER]
    return _Known(
        [*own, *called_here.values(), *mentioned],
        [*own, *called.values(), *ids],
        [*remembered.values()],
        [text for source, text in remembered.items() if source not in public],
    )


async def _names_of_souls(tx: Transaction, follow_up: FollowUp) -> list[str]:
    """The soul, those that take part beside it, and the characters that they play."""
    session = await tx.sessions.get(follow_up["session_id"])
    souls = [
        await tx.souls.get(soul_id)
        for soul_id in dict.fromkeys([follow_up["soul_id"], session.soul_id, *session.souls])
    ]
    presets = [soul.character_id for soul in souls]
    presets += [session.snapshot_of(soul.soul_id)["source_preset"] for soul in souls]
    characters = [await tx.characters.find(preset) for preset in dict.fromkeys(presets) if preset]
    return [*(soul.name for soul in souls), *(character.name for character in characters if character)]
