"""Souls for every program that speaks to OpenAI: each is a model, and remembers by itself what was said before."""

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
from soulgraph.api.auth import chatter
from soulgraph.api.fields import Id
from soulgraph.api.openai_wire import Completion, CompletionRequest
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import PING, PING_S, unbuffered
from soulgraph.errors import InvalidInput, NotFound
from soulgraph.nodes.state import TurnEvent
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.turn_runner import RunningTurn
from soulgraph.stores.records import Json, Soul

router = APIRouter(prefix="/v1", tags=["OpenAI"], dependencies=[chatter])

_SOUL = "soul:"
_SessionId = Annotated[Id, BeforeValidator(unquote)]  # headers are ASCII, ids need not be
_SPOKEN = ("token", "done", "error")


@router.get("/models")
async def models(services: Served) -> Json:
    """Every soul as a model, by its name, or by its id where several have the name."""
    async with services.stores.read() as tx:
        souls = await tx.souls.all()
    named = Counter(soul.name for soul in souls)
    return {"object": "list", "data": [_model(soul, named[soul.name] == 1) for soul in souls]}


@router.get("/models/{model:path}")
async def model(model: str, services: Served) -> Json:
    soul = await _soul(model, services)
    return {**_model(soul, by_name=False), "id": model}


@router.post("/chat/completions", response_model=None)
async def complete(
    request: CompletionRequest,
    services: Served,
    x_session_id: Annotated[_SessionId | None, Header()] = None,
    idempotency_key: Annotated[Id | None, Header()] = None,
) -> Response:
    """One turn. With `stream` the answer is `text/event-stream`."""
    soul = await _soul(request.model, services, request.user_id)
    turn = await services.runner.start(
        TurnRequest(
            text=request.said,
            user_id=request.user_id,
            input_id=idempotency_key,
            session_id=x_session_id or request.session_id,
            soul_id=soul.soul_id,
        )
    )
    completion = Completion(turn.utterance["turn_id"], request.model, int(services.now()))
    where = {"X-Session-Id": quote(turn.utterance["session_id"], safe=":@")}
    if not request.stream:
        return JSONResponse(completion.whole(await turn.answer()), headers=where)
    events = turn.events(PING_S)
    first = await _first_word(events, turn)
    return unbuffered(_chunks(completion, first, events, request.wants_usage), where)


async def _first_word(events: AsyncIterator[TurnEvent | None], turn: RunningTurn) -> TurnEvent | None:
    """A turn that fails before it has said anything fails with a status, unless that takes long."""
    event = await anext(events)
    while event and event.event not in _SPOKEN:
        event = await anext(events)
    if event and event.event == "error":
        await turn.answer()
    return event


async def _chunks(
    completion: Completion, first: TurnEvent | None, events: AsyncIterator[TurnEvent | None], with_usage: bool
) -> AsyncIterator[bytes]:
    def line(chunk: Json) -> bytes:
        return _line({**chunk, "usage": chunk.get("usage")} if with_usage else chunk)

    yield line(completion.delta(role="assistant", content=""))
    async for event in _again(first, events):
        if event is None:
            yield PING
        elif event.event == "token":
            yield line(completion.delta(content=event.data["text"]))
        elif event.event == "error":
            yield _line(openai_wire.error(event.data))
        elif event.event == "done":
            yield line(completion.last(event.data))
            if with_usage:
                yield line(completion.cost(event.data))
            yield format_sse_event(data_str="[DONE]")


async def _again(first: TurnEvent | None, rest: AsyncIterator[TurnEvent | None]) -> AsyncIterator[TurnEvent | None]:
    yield first
    async for event in rest:
        yield event


def _line(data: Json) -> bytes:
    return format_sse_event(data_str=json.dumps(data, ensure_ascii=False))


async def _soul(model: str, services: Services, user_id: str | None = None) -> Soul:
    """The soul with this id or name; of several with one name, the user's own."""
    if not model.startswith(_SOUL):
        raise NotFound("model", model)
    async with services.stores.read() as tx:
        called = await tx.souls.called(model.removeprefix(_SOUL))
    if len(called) > 1:
        called = [soul for soul in called if soul.user_id == user_id] or called
    if not called:
        raise NotFound("model", model)
    if len(called) > 1:
        ids = ", ".join(f"{_SOUL}{soul.soul_id}" for soul in called)
        raise InvalidInput(f"several souls have this name: choose one of {ids}")
    return called[0]


def _model(soul: Soul, by_name: bool) -> Json:
    name = soul.name if by_name else soul.soul_id
    return {"id": f"{_SOUL}{name}", "object": "model", "created": int(soul.created_at), "owned_by": soul.user_id}
