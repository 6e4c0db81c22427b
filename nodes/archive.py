"""What was said becomes an event that any soul can learn from, and leaves the prompt."""

from collections.abc import Sequence
from uuid import NAMESPACE_URL, uuid5

from langgraph.runtime import Runtime

from soulgraph.memory.events import Event, EventLibrary, Pattern
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import AfterglowState, FollowUp
from soulgraph.nodes.transcript import language_of, spoken
from soulgraph.runtime.budget import background
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Message
from soulgraph.voices.names import names_in
from soulgraph.voices.tasks import EXTRACT_EVENT, run_task

MIN_MESSAGES = 10
"""Messages that make an event, if nothing has changed in the soul."""

_MAX_MESSAGES = 40


async def archive(state: AfterglowState, runtime: Runtime[Context]) -> AfterglowState:
    """Oldest first, one event for each stretch. A step that is repeated finds the event it had stored."""
    follow_up, context = state["follow_up"], runtime.context
    if context.events:
        while messages := await _due(follow_up, context):
            await _draw(messages, follow_up, context, context.events)
    return state


async def _due(follow_up: FollowUp, context: Context) -> list[Message]:
    async with context.stores.read() as tx:
        waiting = await tx.messages.unarchived(follow_up["session_id"], follow_up["last_message"])
    return waiting[:_MAX_MESSAGES] if follow_up["archive_now"] or len(waiting) >= MIN_MESSAGES else []


async def _draw(messages: Sequence[Message], follow_up: FollowUp, context: Context, library: EventLibrary) -> None:
    ids = [message.message_id for message in messages]
    event_id = f"evt_{uuid5(NAMESPACE_URL, repr((follow_up['session_id'], ids[0], ids[-1]))).hex}"
    event = await library.find(event_id)
    if event is None:
        async with background(context, follow_up["soul_id"], "archive"):
            event = await _extracted(event_id, messages, follow_up, context)
    kept = await library.add(event, follow_up["session_id"], follow_up["soul_id"], ids)
    context.telemetry.emit(
        "event.archived",
        session_id=follow_up["session_id"],
        soul_id=follow_up["soul_id"],
        turn_id=follow_up["turn_id"],
        event_id=kept,
        merged=kept != event_id,
        sources=[f"episode:{message_id}" for message_id in ids],
    )


async def _extracted(event_id: str, messages: Sequence[Message], follow_up: FollowUp, context: Context) -> Event:
    changed = follow_up["state_changes"] if messages[-1].message_id == follow_up["last_message"] else []
    drawn = await run_task(
        context.voice.model,
        EXTRACT_EVENT,
        language_of(messages),
        messages=spoken(messages),
        state_changes=changed,
        remembered=await _remembered(messages, follow_up, context),
        names=await _names(messages, follow_up, context),
    )
    return Event(
        event_id,
        drawn.summary,
        Pattern(**drawn.pattern.model_dump()),
        drawn.impact.model_dump(),
        drawn.narrative_fragment,
        iso(messages[-1].created_at),
    )


async def _remembered(messages: Sequence[Message], follow_up: FollowUp, context: Context) -> list[str]:
    """What had come to mind meanwhile: it happened before, and is no new event."""
    if context.recall is None:
        return []
    async with context.stores.read() as tx:
        turns = await tx.turns.of({message.turn_id for message in messages})
    sources = {source for turn in turns if turn.answer for source in turn.answer["persona"]["sources"]}
    return [*(await context.recall.texts(follow_up["soul_id"], sources)).values()]


async def _names(messages: Sequence[Message], follow_up: FollowUp, context: Context) -> list[str]:
    """Whoever is known to be spoken of: the event itself must name nobody."""
    async with context.stores.read() as tx:
        soul = await tx.souls.get(follow_up["soul_id"])
        session = await tx.sessions.find(follow_up["session_id"])
        played = session.character_snapshot["source_preset"] if session else None
        characters = [
            await tx.characters.find(preset) for preset in dict.fromkeys((soul.character_id, played)) if preset
        ]
        preferences = await tx.preferences.all(soul.soul_id)
    user = [preference.value for preference in preferences if preference.key == "address"]
    told = names_in(message.content for message in messages)
    return [soul.name, *(character.name for character in characters if character), *user, *told]
