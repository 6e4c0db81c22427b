"""Draws an event from what was said, which any soul can learn from; the messages then leave the prompt."""

from collections.abc import Sequence
from uuid import NAMESPACE_URL, uuid5

from langgraph.runtime import Runtime

from soulgraph.memory.events import Event, EventLibrary, Pattern
from soulgraph.nodes.context import Context
from soulgraph.nodes.quality import report_refusals
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.nodes.transcript import as_heard, language_of
from soulgraph.senses.grounding import is_small_talk, restates, says_nothing
from soulgraph.soul.timestamps import iso
from soulgraph.stores.memory import user_name
from soulgraph.stores.records import Message
from soulgraph.voices.names import names_in
from soulgraph.voices.tasks import EXTRACT_EVENT, run_task

MIN_MESSAGES = 10
"""How many unarchived messages make an event, when the turn has not changed the soul."""

_MAX_MESSAGES = 40


async def archive(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """Oldest first, one event for each stretch. After a crash the event that was stored already is found again."""
    follow_up = state["follow_up"]
    context = runtime.context
    if context.memory.events:
        while messages := await _unarchived(follow_up, context):
            await _archive(messages, follow_up, context, context.memory.events)
    return state


async def _unarchived(follow_up: FollowUp, context: Context) -> list[Message]:
    async with context.stores.read() as tx:
        waiting = await tx.messages.unarchived(follow_up["session_id"], follow_up["last_message"])
    return waiting[:_MAX_MESSAGES] if follow_up["archive_now"] or len(waiting) >= MIN_MESSAGES else []


async def _archive(messages: Sequence[Message], follow_up: FollowUp, context: Context, library: EventLibrary) -> None:
    ids = [message.message_id for message in messages]
    event_id = f"evt_{uuid5(NAMESPACE_URL, repr((follow_up['session_id'], ids[0], ids[-1]))).hex}"
    event = await library.find(event_id)
    if event is None and not _is_uneventful(messages, follow_up):
        async with context.budget.background(follow_up["soul_id"], "archive"):
            event = await _extract(event_id, messages, follow_up, context)
    known = {
        "session_id": follow_up["session_id"],
        "soul_id": follow_up["soul_id"],
        "turn_id": follow_up["turn_id"],
    }
    if event is None:
        async with context.stores.write() as tx:
            await tx.messages.archive(ids)
        report_refusals(context.telemetry, "event", ["small_talk"], **known)
        return
    kept = await library.add(event, follow_up["session_id"], follow_up["soul_id"], ids)
    context.telemetry.emit(
        "event.archived",
        **known,
        event_id=kept,
        merged=kept != event_id,
        sources=[f"episode:{message_id}" for message_id in ids],
    )


def _is_uneventful(messages: Sequence[Message], follow_up: FollowUp) -> bool:
    """Nothing but greetings, thanks and bare feelings were said, and nothing has changed: no model is asked."""
    said = [message.content for message in messages if message.role == "user"]
    return not follow_up["state_changes"] and all(map(says_nothing, said))


async def _extract(event_id: str, messages: Sequence[Message], follow_up: FollowUp, context: Context) -> Event | None:
    """None if the model has made nothing of it that another soul could learn from."""
    changed = follow_up["state_changes"] if messages[-1].message_id == follow_up["last_message"] else []
    lang = language_of(messages)
    remembered = await _remembered(messages, follow_up, context)
    extract = await run_task(
        context.voice.writer,
        EXTRACT_EVENT,
        lang,
        messages=as_heard(messages, {}, lang),
        state_changes=changed,
        remembered=remembered,
        names=await _names(messages, follow_up, context),
    )
    if is_small_talk(extract.summary) or restates(extract.summary, remembered):
        return None
    return Event(
        event_id,
        extract.summary,
        Pattern(**extract.pattern.model_dump()),
        extract.impact.model_dump(),
        extract.narrative_fragment,
        iso(messages[-1].created_at),
    )


async def _remembered(messages: Sequence[Message], follow_up: FollowUp, context: Context) -> list[str]:
    """What was recalled in these turns: it happened before, and is no new event."""
    if context.memory.recall is None:
        return []
    async with context.stores.read() as tx:
        turns = await tx.turns.of({message.turn_id for message in messages})
    sources = {source for turn in turns if turn.answer for source in turn.answer["persona"]["sources"]}
    return [*(await context.memory.recall.texts(follow_up["soul_id"], sources)).values()]


async def _names(messages: Sequence[Message], follow_up: FollowUp, context: Context) -> list[str]:
    """The names that are known to occur in the messages: the event itself must name nobody."""
    async with context.stores.read() as tx:
        soul = await tx.souls.get(follow_up["soul_id"])
        session = await tx.sessions.find(follow_up["session_id"])
        played = session.character_snapshot["source_preset"] if session else None
        characters = [
            await tx.characters.find(preset) for preset in dict.fromkeys((soul.character_id, played)) if preset
        ]
        preferences = await tx.preferences.all(soul.soul_id)
    mentioned = names_in(message.content for message in messages)
    played_by = [character.name for character in characters if character]
    return [soul.name, *played_by, user_name(preferences, soul.user_id) or "", *mentioned]
