"""`GET /v1/turns/{turn_id}/stream`: the events of a turn by its id, for clients that cannot send its input again."""

from collections.abc import AsyncGenerator
from contextlib import suppress
from functools import partial
from typing import cast

from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from soulgraph.api.access import Caller
from soulgraph.api.auth import Reader
from soulgraph.api.fields import Id
from soulgraph.api.media import SSE, text
from soulgraph.api.raising import OTHER_TURN, TURN_LOST, raises
from soulgraph.api.resuming import follow_to_end
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import event_stream
from soulgraph.api.stream import LastEventId
from soulgraph.api.turns import heard_turn
from soulgraph.errors import InvalidInput, NotFound, TurnLost
from soulgraph.nodes.answer import Answer
from soulgraph.nodes.state import Utterance
from soulgraph.runtime.turn_log import EventId, StreamedEvent, TurnLog

router = APIRouter(prefix="/v1/turns", tags=["chat"])

_EVENTS = text(
    SSE,
    "what happens in the turn, or what came after the event that was heard last; then `done` or `error`",
    'event: token\ndata: {"text": "I am here."}\nid: turn_c6ca.1.10.5f0b8d3e\n\n',
)


@router.get("/{turn_id}/stream", response_class=StreamingResponse, responses={200: _EVENTS})
@raises(TURN_LOST, OTHER_TURN)
async def listen_to_turn(
    turn_id: Id, caller: Reader, services: Served, last_event_id: LastEventId = None
) -> StreamingResponse:
    """Stream the events of a turn that runs, on whichever server, or the reply of one that is stored.

    A turn that runs is for the person who spoke; a stored one also for those who were there.
    """
    after = EventId.parse(last_event_id) if last_event_id else None
    if after and after.turn_id != turn_id:
        raise InvalidInput("this id is of another turn: send the last one that was heard of this turn, or none")
    may_hear = partial(_may_hear, caller)
    running = services.runner.under_way.find(turn_id)
    here = running if running and may_hear(running.utterance) else None
    if here and not here.has_failed:
        return event_stream(here.events(services.wait_intervals, after))

    async def read_stored(after: EventId | None) -> AsyncGenerator[StreamedEvent, None]:
        return (await _stored(turn_id, caller, services)).read(after, services.wait_intervals)

    try:
        return event_stream(await read_stored(after))
    except TurnLost:
        turn = here or await services.relays.follow_turn(turn_id, after, may_hear)
        if turn is None:
            raise
    return event_stream(follow_to_end(turn, after, read_stored, services.wait_intervals))


def _may_hear(caller: Caller, utterance: Utterance) -> bool:
    """Whether a turn that runs is of the caller's person: who may hear it beside them is known when it is stored."""
    return caller.person in (None, utterance["user_id"]) and caller.sees_soul(utterance["soul_id"])


async def _stored(turn_id: str, caller: Caller, services: Services) -> TurnLog:
    """The answer of a turn that the caller was there to hear. Raises TurnLost if none is stored that is theirs."""
    async with services.stores.read() as tx:
        for turn in await tx.turns.of([turn_id]):
            with suppress(NotFound):
                session = await caller.session(tx, turn.session_id)
                heard = await heard_turn(tx, session, turn_id, caller)
                if heard.answer:
                    return TurnLog.of(cast(Answer, heard.answer))
    raise TurnLost(turn_id)
