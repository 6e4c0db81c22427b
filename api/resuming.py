"""Streams of turns that go on where they broke off: on this server, on another one, or from what is stored."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import NamedTuple

from soulgraph.api.services import Services
from soulgraph.errors import InvalidInput, SoulgraphError
from soulgraph.nodes.state import Utterance
from soulgraph.runtime.admission import TurnRequest, admit, stored_answer
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.runtime.silence import WaitIntervals
from soulgraph.runtime.turn_log import EventId, StreamedEvent
from soulgraph.runtime.turn_relays import FollowableTurn

StartTurn = Callable[[], Awaitable[RunningTurn]]
GoOn = Callable[[EventId], Awaitable[AsyncGenerator[StreamedEvent, None]]]


class ResumedTurn(NamedTuple):
    turn_id: str
    utterance: Utterance
    events: AsyncGenerator[StreamedEvent, None]


async def resume_turn(wanted: TurnRequest, last_event_id: str, start: StartTurn, services: Services) -> ResumedTurn:
    """What came after that event of the turn with this input, wherever it runs; `start` is for one that runs nowhere.

    Such a turn gets the stored answer or is run anew, as any input that is sent again. Raises InvalidInput for an id
    that is none, or of another turn.
    """
    after = EventId.parse(last_event_id)
    if wanted.input_id is None and wanted.replaces is None:
        raise InvalidInput(
            "a turn is resumed by the `input_id` of its input: send that, or GET /v1/turns/{turn_id}/stream"
        )
    utterance = await admit(services.stores, wanted)
    if wanted.input_id is not None:
        await _refuse_other_turn(after, utterance, services)
    intervals = services.wait_intervals

    async def start_own(after: EventId) -> AsyncGenerator[StreamedEvent, None]:
        return (await start()).events(intervals, after)

    if turn := await _under_way(utterance, after, services):
        return ResumedTurn(turn.turn_id, turn.utterance, follow_to_end(turn, after, start_own, intervals))
    own = await start()
    return ResumedTurn(own.turn_id, own.utterance, own.events(intervals, after))


async def _refuse_other_turn(after: EventId, utterance: Utterance, services: Services) -> None:
    """Raise InvalidInput if the id is of a turn with another input; of one that was never stored it cannot be told."""
    async with services.stores.read() as tx:
        known = await tx.turns.of([after.turn_id])
    mine = utterance["session_id"], utterance["input_id"]
    if any((turn.session_id, turn.input_id) != mine for turn in known):
        raise InvalidInput(
            "this id is of another turn: send the last one that was heard of this input, or none to hear everything"
        )


async def _under_way(utterance: Utterance, after: EventId, services: Services) -> FollowableTurn | None:
    """The turn with this input here or on another server, also if it has just failed; None if it is stored or lost."""
    turns = services.runner.under_way
    if running := turns.running(utterance):
        return running
    if await stored_answer(services.stores, utterance):
        return None
    return turns.find_input(utterance) or await services.relays.follow_input(utterance, after)


async def follow_to_end(
    turn: FollowableTurn, after: EventId | None, go_on: GoOn, intervals: WaitIntervals
) -> AsyncGenerator[StreamedEvent, None]:
    """Its events; if its server is lost, those that `go_on` finds after the last one that was heard."""
    last = str(after or EventId(turn.turn_id))
    async with aclosing(turn.events(intervals, after)) as events:
        async for event in events:
            yield event
            last = event.id
            if event.is_last:
                return
    try:
        rest = await go_on(EventId.parse(last))
    except SoulgraphError as error:
        yield StreamedEvent("error", error.problem(), last)
        return
    async with aclosing(rest):
        async for event in rest:
            yield event
