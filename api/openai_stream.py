"""Lines of OpenAI's streams, and the turn behind one: whoever leaves it has heard enough."""

import json
from collections.abc import AsyncIterator

from fastapi.sse import format_sse_event

from soulgraph.api.services import Services
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.runtime.turn_log import StreamedEvent
from soulgraph.stores.records import Json

_ANSWER_EVENTS = ("token", "done", "error")
_STATUS_WAIT_S = 15  # so long a failure can still become an error status


def chunk_data(data: Json, event: str | None = None) -> bytes:
    return format_sse_event(data_str=json.dumps(data, ensure_ascii=False), event=event)


def done() -> bytes:
    return format_sse_event(data_str="[DONE]")


def waiting(event: StreamedEvent) -> bytes:
    """A comment, which clients of OpenAI ignore: their protocol has no such event."""
    return format_sse_event(comment=f"waiting {event.data['seconds']} s")


async def heard(turn: RunningTurn, services: Services) -> AsyncIterator[StreamedEvent]:
    """The events of a turn that its client is told of, from the first one on.

    That is awaited before anything is told, so that a turn that fails early is answered with an error status. A client
    that leaves has stopped the turn: what it was told by then is the reply.
    """
    events = turn.events(services.wait_intervals)
    first = await anext(events)
    while first.event not in _ANSWER_EVENTS and not _is_late(first):
        first = await anext(events)
    if first.event == "error":
        await turn.answer()  # raises the error of the turn
    return _told(turn, first, events)


async def _told(
    turn: RunningTurn, first: StreamedEvent, events: AsyncIterator[StreamedEvent]
) -> AsyncIterator[StreamedEvent]:
    ended = False
    try:
        ended = first.is_last
        yield first
        async for event in events:
            ended = event.is_last
            yield event
    finally:
        if not ended:
            turn.stop()


def _is_late(event: StreamedEvent) -> bool:
    return event.event == "waiting" and bool(event.data["seconds"] >= _STATUS_WAIT_S)
