"""The OpenAI-compatible chat completions: each soul is a model, and `plain` is the language model without one."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BeforeValidator

from soulgraph.api import openai_wire
from soulgraph.api.access import Caller
from soulgraph.api.auth import Speaker
from soulgraph.api.errands import errand_in
from soulgraph.api.fields import Id, ModelName
from soulgraph.api.media import SSE, text
from soulgraph.api.openai_request import CompletionRequest, person_called
from soulgraph.api.openai_sessions import named_in
from soulgraph.api.openai_stream import chunk_data, done, heard, waiting
from soulgraph.api.openai_turns import SOUL, begin_turn, find_soul
from soulgraph.api.openai_wire import Completion, CompletionOut, Model, ModelList
from soulgraph.api.plain import PLAIN, complete_plainly, run_errand
from soulgraph.api.raising import SEVERAL_SOULS, TURN, not_found, raises
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import unbuffered
from soulgraph.runtime.turn_log import StreamedEvent
from soulgraph.stores.records import Json, Soul

router = APIRouter(prefix="/v1", tags=["OpenAI"])

SessionId = Annotated[Id, BeforeValidator(unquote)]  # percent-encoded, because headers are ASCII and ids need not be
_CHUNKS = text(
    SSE,
    "with `stream`: chunks of the answer, then `[DONE]`",
    'data: {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": "I am here."}}]}\n\n',
)


@router.get("/models")
async def models(caller: Speaker, services: Served) -> ModelList:
    """List every soul as a model: `soul:` and its name, or its id if several souls have the name; and `plain`."""
    async with services.stores.read() as tx:
        souls = [soul for soul in await tx.souls.all() if caller.sees_soul(soul.soul_id)]
    names = Counter(soul.name for soul in souls)
    listed = [_model(soul, soul.name if names[soul.name] == 1 else soul.soul_id) for soul in souls]
    return ModelList(data=[*listed, *_plain(caller, services)])


@router.get("/models/{model:path}")
@raises(SEVERAL_SOULS)
async def model(model: ModelName, caller: Speaker, services: Served) -> Model:
    """Read one model: `plain`, or `soul:` and the name or id of its soul."""
    if model == PLAIN and (plain := _plain(caller, services)):
        return plain[0]
    soul = await find_soul(model, caller, services)
    return _model(soul, model.removeprefix(SOUL))


@router.post("/chat/completions", response_model=CompletionOut, responses={200: _CHUNKS})
@raises(*TURN, *not_found("model"), SEVERAL_SOULS)
async def complete(
    http: Request,
    request: CompletionRequest,
    caller: Speaker,
    services: Served,
    x_session_id: Annotated[SessionId | None, Header()] = None,
    idempotency_key: Annotated[Id | None, Header()] = None,
) -> Response:
    """Run one turn with the user's last words. With `stream` the answer is `text/event-stream`.

    Whoever sends the conversation so far is understood: the same last line again is answered anew, another one in its
    place is an edit, and a conversation that is not known is a new one. `X-Session-Id` names the conversation, and
    `Idempotency-Key` makes it safe to send the same request again. What a program asks for its own purposes (titles,
    tags, whether anybody is there) is no turn. `X-Soulgraph-Ignored` names what of the request had no effect.
    """
    if request.model == PLAIN:
        caller.require_scope("chat")
        return await complete_plainly(request, services)
    if errand := errand_in(request, request.messages):
        await find_soul(request.model, caller.acting_for(caller.user_id or person_called(request.user)), services)
        return await run_errand(errand, request, services)
    named = named_in(http, request.metadata, x_session_id)
    turn, headers, begun = await begin_turn(http, request, request.messages, named, idempotency_key, caller, services)
    completion = Completion(turn.utterance["turn_id"], request.model, int(services.now()), begun)
    if not request.stream:
        return JSONResponse(completion.whole(await turn.answer()), headers=headers)
    return unbuffered(_chunks(completion, await heard(turn, services), request.wants_usage), headers)


async def _chunks(
    completion: Completion, events: AsyncIterator[StreamedEvent], with_usage: bool
) -> AsyncIterator[bytes]:
    """The answer as OpenAI's stream of chunks."""

    def encode(chunk: Json) -> bytes:
        # With `include_usage` every chunk has the field; it is null in all but the last.
        return chunk_data({**chunk, "usage": chunk.get("usage")} if with_usage else chunk)

    yield encode(completion.delta(role="assistant", content=""))
    async for event in events:
        if event.event == "waiting":
            yield waiting(event)
        elif event.event == "token":
            yield encode(completion.delta(content=event.data["text"]))
        elif event.event == "error":
            yield chunk_data(openai_wire.error(event.data))
        elif event.event == "done":
            yield encode(completion.last(event.data))
            if with_usage:
                yield encode(completion.cost(event.data))
            yield done()


def _model(soul: Soul, name: str) -> Model:
    return Model(id=f"{SOUL}{name}", created=int(soul.created_at), owned_by=soul.user_id)


def _plain(caller: Caller, services: Services) -> list[Model]:
    """The language model itself, where there is one and this client may use it."""
    offered = services.relay is not None and services.settings.plain_model and caller.scope != "terminal"
    return [Model(id=PLAIN, created=0, owned_by="soulgraph")] if offered else []
