"""`POST /v1/responses`: OpenAI's newer API. Each soul is a model here too, and a response is a turn."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from soulgraph.api import openai_wire
from soulgraph.api.access import Caller
from soulgraph.api.auth import Speaker
from soulgraph.api.completions import SessionId
from soulgraph.api.errands import errand_in
from soulgraph.api.fields import Id
from soulgraph.api.media import SSE, text
from soulgraph.api.openai_request import Message, OpenAIRequest, person_called
from soulgraph.api.openai_sessions import Named, named_in
from soulgraph.api.openai_stream import chunk_data, heard, waiting
from soulgraph.api.openai_turns import begin_turn, find_soul
from soulgraph.api.openai_wire import Extras, extras_of, usage_of
from soulgraph.api.plain import NO_TURN, words_for_errand
from soulgraph.api.problems import invalid_field
from soulgraph.api.raising import SEVERAL_SOULS, TURN, not_found, raises
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import unbuffered
from soulgraph.errors import NotFound
from soulgraph.nodes.answer import Answer
from soulgraph.runtime.turn_log import StreamedEvent
from soulgraph.stores.factories import new_id
from soulgraph.stores.records import Json

router = APIRouter(prefix="/v1", tags=["OpenAI"])

_PREFIX = "resp_"
_EVENTS = text(
    SSE,
    "with `stream`: OpenAI's typed events, the last of them `response.completed`",
    'event: response.output_text.delta\ndata: {"type": "response.output_text.delta", "delta": "I am here."}\n\n',
)


class ResponseRequest(OpenAIRequest):
    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={"examples": [{"model": "soul:小满", "input": "今天被老板骂了，好难过"}]},
    )

    input: str | list[Any] = Field(description="what is said: a text, or the messages of the conversation")
    previous_response_id: str | None = Field(None, max_length=200, description="the response that this one follows")
    conversation: Any = Field(None, description="the conversation, by the name that the client gives it")

    @property
    def messages(self) -> list[Message]:
        """The input as messages; items that are none, like calls of tools, are left out."""
        if isinstance(self.input, str):
            return [Message(role="user", content=self.input)]
        return [
            Message(role=item["role"], content=item.get("content"), name=item.get("name"))
            for item in self.input
            if isinstance(item, dict) and isinstance(item.get("role"), str)
        ]


class ResponseOut(BaseModel):
    """The answer, as OpenAI's Responses API has it; `soulgraph` as with chat completions."""

    model_config = ConfigDict(extra="allow")

    id: str
    object: Literal["response"]
    created_at: int
    status: Literal["completed", "in_progress"]
    model: str
    output: list[Json]
    usage: Json | None
    soulgraph: Extras | None = None


@router.post("/responses", response_model=ResponseOut, responses={200: _EVENTS})
@raises(*TURN, *not_found("model"), NotFound("response", "resp_turn_c6ca"), SEVERAL_SOULS)
async def respond(
    http: Request,
    request: ResponseRequest,
    caller: Speaker,
    services: Served,
    x_session_id: Annotated[SessionId | None, Header()] = None,
    idempotency_key: Annotated[Id | None, Header()] = None,
) -> Response:
    """Run one turn with what is said last in the input. With `stream` the answer is `text/event-stream`.

    It follows `previous_response_id`, or the conversation that is sent or named, as chat completions do.
    """
    messages = request.messages
    if errand := errand_in(request, messages):
        await find_soul(request.model, caller.acting_for(caller.user_id or person_called(request.user)), services)
        words = await words_for_errand(errand, request.model, messages, services)
        made = _Made(new_id("errand"), request.model, int(services.now()))
        if request.stream:
            return unbuffered(_said(made, words), NO_TURN)
        return JSONResponse(made.whole(words), headers=NO_TURN)
    named = named_in(http, request.metadata, x_session_id)
    if request.previous_response_id:
        before, named = await _before(request.previous_response_id, caller, services)
        messages = [*before, *messages]
    elif chat := _conversation(request.conversation):
        named = Named(chat=chat)
    turn, headers, begun = await begin_turn(http, request, messages, named, idempotency_key, caller, services)
    made = _Made(turn.utterance["turn_id"], request.model, int(services.now()), request.previous_response_id, begun)
    if not request.stream:
        answer = await turn.answer()
        return JSONResponse(made.answered(answer), headers=headers)
    return unbuffered(_streamed(made, await heard(turn, services)), headers)


def _conversation(value: Any) -> str | None:
    found = value.get("id") if isinstance(value, dict) else value
    return found if isinstance(found, str) and found else None


async def _before(response_id: str, caller: Caller, services: Services) -> tuple[list[Message], Named]:
    """The round that a response was, and its conversation. Raises NotFound for one that is not the caller's."""
    async with services.stores.read() as tx:
        turns = await tx.turns.of([response_id.removeprefix(_PREFIX)])
        session = await tx.sessions.find(turns[0].session_id) if turns else None
        if session is None or not caller.speaks_in(session):
            raise NotFound("response", response_id)
        said = await tx.messages.by_input(session.session_id, turns[0].input_id)
        reply = await tx.messages.by_turn(session.session_id, turns[0].turn_id)
    if said is None or reply is None:
        raise invalid_field("previous_response_id", "what it answered was taken back: leave this out, or name another")
    before = [Message(role="user", content=said.content), Message(role="assistant", content=reply.content)]
    return before, Named(session_id=session.session_id)


_USUAL: Json = {
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": False,
    "reasoning": {"effort": None, "summary": None},
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
"""What clients of the Responses API look for in every response, at the values that say nothing."""


@dataclass(frozen=True, slots=True)
class _Made:
    """Builds one response and its events. `begun` is what the client has of the reply already."""

    turn_id: str
    model: str
    created_at: int
    previous: str | None = None
    begun: str = ""
    _numbers: "count[int]" = field(default_factory=count)

    def answered(self, answer: Answer) -> Json:
        words = answer["reply"].removeprefix(self.begun)
        counts = usage_of(answer)
        usage = {
            "input_tokens": counts["prompt_tokens"],
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": counts["completion_tokens"],
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": counts["total_tokens"],
        }
        return {**self.whole(words), "usage": usage, "soulgraph": extras_of(answer)}

    def whole(self, words: str) -> Json:
        return self._response("completed", [self.item("completed", [self.part(words)])])

    def event(self, kind: str, **fields: Any) -> bytes:
        return chunk_data({"type": kind, "sequence_number": next(self._numbers), **fields}, event=kind)

    def opening(self) -> list[bytes]:
        """What comes before the first word."""
        begun = self._response("in_progress", [])
        return [
            self.event("response.created", response=begun),
            self.event("response.in_progress", response=begun),
            self.event("response.output_item.added", output_index=0, item=self.item("in_progress", [])),
            self.event("response.content_part.added", **self._place, part=self.part("")),
        ]

    def delta(self, words: str) -> bytes:
        return self.event("response.output_text.delta", **self._place, delta=words, logprobs=[])

    def closing(self, words: str, response: Json) -> list[bytes]:
        """What comes after the last word."""
        return [
            self.event("response.output_text.done", **self._place, text=words, logprobs=[]),
            self.event("response.content_part.done", **self._place, part=self.part(words)),
            self.event("response.output_item.done", output_index=0, item=self.item("completed", [self.part(words)])),
            self.event("response.completed", response=response),
        ]

    def item(self, status: str, parts: list[Json]) -> Json:
        return {"type": "message", "id": self._item_id, "status": status, "role": "assistant", "content": parts}

    def part(self, words: str) -> Json:
        return {"type": "output_text", "text": words, "annotations": [], "logprobs": []}

    @property
    def _item_id(self) -> str:
        return f"msg_{self.turn_id}"

    @property
    def _place(self) -> Json:
        return {"item_id": self._item_id, "output_index": 0, "content_index": 0}

    def _response(self, status: str, output: list[Json]) -> Json:
        return {
            "id": f"{_PREFIX}{self.turn_id}",
            "object": "response",
            "created_at": self.created_at,
            "status": status,
            "model": self.model,
            "output": output,
            "previous_response_id": self.previous,
            "usage": None,
            **_USUAL,
        }


async def _streamed(made: _Made, events: AsyncIterator[StreamedEvent]) -> AsyncIterator[bytes]:
    for line in made.opening():
        yield line
    async for event in events:
        if event.event == "waiting":
            yield waiting(event)
        elif event.event == "token":
            yield made.delta(event.data["text"])
        elif event.event == "error":
            told = openai_wire.error(event.data)["error"]
            yield made.event("error", code=told["code"], message=told["message"], param=told["param"])
        elif event.event == "done":
            for line in made.closing(event.data["reply"].removeprefix(made.begun), made.answered(event.data)):
                yield line


async def _said(made: _Made, words: str) -> AsyncIterator[bytes]:
    for line in (*made.opening(), made.delta(words), *made.closing(words, made.whole(words))):
        yield line
