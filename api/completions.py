"""The OpenAI-compatible endpoints: each soul is a model. A soul remembers earlier messages by itself."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import APIRouter, Header
from fastapi.responses import JSONResponse, Response
from fastapi.sse import format_sse_event
from pydantic import BeforeValidator

from soulgraph.api import openai_wire
from soulgraph.api.access import Caller
from soulgraph.api.auth import Speaker
from soulgraph.api.chat import for_caller
from soulgraph.api.fields import Id, ModelName
from soulgraph.api.media import SSE, text
from soulgraph.api.openai_wire import Completion, CompletionOut, CompletionRequest, Model, ModelList
from soulgraph.api.raising import SEVERAL_SOULS, TURN, not_found, raises
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import unbuffered
from soulgraph.errors import InvalidInput, NotFound
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.runtime.turn_log import StreamedEvent
from soulgraph.stores.records import Json, Soul

router = APIRouter(prefix="/v1", tags=["OpenAI"])

_SOUL = "soul:"
_SessionId = Annotated[Id, BeforeValidator(unquote)]  # percent-encoded, because headers are ASCII and ids need not be
_ANSWER_EVENTS = ("token", "done", "error")
_CHUNKS = text(
    SSE,
    "with `stream`: chunks of the answer, then `[DONE]`",
    'data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "I am here."}}]}\n\n',
)
_STATUS_WAIT_S = 15  # so long a failure can still become an error status


@router.get("/models")
async def models(caller: Speaker, services: Served) -> ModelList:
    """List every soul as a model: `soul:` and its name, or its id if several souls have the name."""
    async with services.stores.read() as tx:
        souls = [soul for soul in await tx.souls.all() if caller.sees_soul(soul.soul_id)]
    names = Counter(soul.name for soul in souls)
    return ModelList(data=[_model(soul, soul.name if names[soul.name] == 1 else soul.soul_id) for soul in souls])


@router.get("/models/{model:path}")
@raises(SEVERAL_SOULS)
async def model(model: ModelName, caller: Speaker, services: Served) -> Model:
    """Read one model by `soul:` and the name or id of its soul."""
    soul = await _find_soul(model, caller, services)
    return _model(soul, model.removeprefix(_SOUL))


@router.post("/chat/completions", response_model=CompletionOut, responses={200: _CHUNKS})
@raises(*TURN, *not_found("model"), SEVERAL_SOULS)
async def complete(
    request: CompletionRequest,
    caller: Speaker,
    services: Served,
    x_session_id: Annotated[_SessionId | None, Header()] = None,
    idempotency_key: Annotated[Id | None, Header()] = None,
) -> Response:
    """Run one turn with the user's last message. With `stream` the answer is `text/event-stream`.

    `X-Session-Id` names the session, and `Idempotency-Key` makes it safe to send the same request again.
    """
    services.runner.require_room()
    soul = await _find_soul(request.model, caller.acting_for(request.user), services)
    session_id = x_session_id or request.session_id
    wanted = TurnRequest(
        text=request.user_text,
        user_id=await _who_speaks(request, session_id, caller, services),
        input_id=idempotency_key,
        session_id=session_id,
        soul_id=soul.soul_id,
    )
    turn = await services.runner.start(await for_caller(wanted, caller, services.stores))
    completion = Completion(turn.utterance["turn_id"], request.model, int(services.now()))
    headers = {"X-Session-Id": quote(turn.utterance["session_id"], safe=":@")}
    if not request.stream:
        return JSONResponse(completion.whole(await turn.answer()), headers=headers)
    events = turn.events(services.wait_intervals)
    first = await _first_event(events, turn)
    return unbuffered(_chunks(completion, first, events, request.wants_usage), headers)


async def _first_event(events: AsyncIterator[StreamedEvent], turn: RunningTurn) -> StreamedEvent:
    """The first token, the end of the turn, or a `waiting` after which the response must start anyway.

    It is awaited before the response starts, so that a turn that fails early is answered with an error status.
    """
    event = await anext(events)
    while event.event not in _ANSWER_EVENTS and not _is_late(event):
        event = await anext(events)
    if event.event == "error":
        await turn.answer()  # raises the error of the turn
    return event


def _is_late(event: StreamedEvent) -> bool:
    return event.event == "waiting" and bool(event.data["seconds"] >= _STATUS_WAIT_S)


async def _chunks(
    completion: Completion, first: StreamedEvent, events: AsyncIterator[StreamedEvent], with_usage: bool
) -> AsyncIterator[bytes]:
    """The answer as OpenAI's stream of chunks."""

    def encode(chunk: Json) -> bytes:
        # With `include_usage` every chunk has the field; it is null in all but the last.
        return _sse_data({**chunk, "usage": chunk.get("usage")} if with_usage else chunk)

    yield encode(completion.delta(role="assistant", content=""))
    async for event in _prepend(first, events):
        if event.event == "waiting":
            # A comment, which clients of OpenAI ignore: their protocol has no such event.
            yield format_sse_event(comment=f"waiting {event.data['seconds']} s")
        elif event.event == "token":
            yield encode(completion.delta(content=event.data["text"]))
        elif event.event == "error":
            yield _sse_data(openai_wire.error(event.data))
        elif event.event == "done":
            yield encode(completion.last(event.data))
            if with_usage:
                yield encode(completion.cost(event.data))
            yield format_sse_event(data_str="[DONE]")


async def _prepend(first: StreamedEvent, rest: AsyncIterator[StreamedEvent]) -> AsyncIterator[StreamedEvent]:
    yield first
    async for event in rest:
        yield event


def _sse_data(data: Json) -> bytes:
    return format_sse_event(data_str=json.dumps(data, ensure_ascii=False))


async def _who_speaks(
    request: CompletionRequest, session_id: str | None, caller: Caller, services: Services
) -> str | None:
    """In a group the one whom the message's `name` says; elsewhere that is just a name, and `user` says who it is.

    Raises Forbidden if either names somebody else than the person whom the caller is.
    """
    if not caller.acts_for_anybody:
        return caller.acting_for(request.user).acting_for(request.speaker).person
    async with services.stores.read() as tx:
        session = await tx.sessions.find(session_id) if session_id else None
    return request.speaker or request.user if session and session.people else request.user


async def _find_soul(model: str, caller: Caller, services: Services) -> Soul:
    """The soul with this id or name; of several with the same name, the one of the caller's person.

    Raises NotFound if there is none, and InvalidInput if there are still several.
    """
    if not model.startswith(_SOUL):
        raise NotFound("model", model)
    async with services.stores.read() as tx:
        called = await tx.souls.called(model.removeprefix(_SOUL))
    found = [soul for soul in called if caller.sees_soul(soul.soul_id)]
    if len(found) > 1:
        found = [soul for soul in found if soul.user_id == caller.one_person] or found
    if not found:
        raise NotFound("model", model)
    if len(found) > 1:
        ids = ", ".join(f"{_SOUL}{soul.soul_id}" for soul in found)
        raise InvalidInput(f"several souls have this name: choose one of {ids}")
    return found[0]


def _model(soul: Soul, name: str) -> Model:
    return Model(id=f"{_SOUL}{name}", created=int(soul.created_at), owned_by=soul.user_id)
