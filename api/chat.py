"""One turn over HTTP: as JSON, or as server-sent events while it happens."""

from typing import Literal, Self

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from soulgraph.api.auth import chatter
from soulgraph.api.fields import MAX_TEXT, Id, Text, UserId
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import PING_S, event_stream
from soulgraph.nodes.state import Answer
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.turn_runner import RunningTurn
from soulgraph.stores.factories import DEFAULT_USER

router = APIRouter(prefix="/v1", tags=["chat"], dependencies=[chatter])


class ChatInput(BaseModel):
    """One thing the user said, as a terminal reports it."""

    model_config = ConfigDict(extra="forbid")

    input_id: Id | None = None
    type: Literal["keyboard_text", "speech_text"] = "keyboard_text"
    source: str | None = None
    ts: float | str | None = None
    text: Text


class ChatRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    text: Text | None = None
    input_id: Id | None = Field(None, description="the same id again gives the same answer and applies nothing twice")
    inputs: list[ChatInput] | None = Field(None, min_length=1, max_length=16)
    session_id: Id | None = Field(None, description="without it the usual conversation of this user goes on")
    soul_id: Id | None = Field(None, description="without it the terminal's soul is used")
    terminal_id: Id | None = None
    user_id: UserId = DEFAULT_USER
    character_id: Id | None = None
    background_id: Id | None = None
    template_id: Id | None = None
    stream: bool = False

    @model_validator(mode="after")
    def _one_way_to_say_it(self) -> Self:
        if (self.text is None) == (self.inputs is None):
            raise ValueError("send either `text` or `inputs`")
        if len(self.words) > MAX_TEXT:
            raise ValueError(f"the inputs may have {MAX_TEXT} characters together")
        return self

    @property
    def words(self) -> str:
        return self.text or "\n".join(entry.text for entry in self.inputs or [])

    @property
    def key(self) -> str | None:
        """What makes this input the same as one sent before."""
        ids = [entry.input_id for entry in self.inputs or [] if entry.input_id]
        return self.input_id or "+".join(ids) or None

    def turn(self) -> TurnRequest:
        places = self.model_dump(include=set(TurnRequest.__dataclass_fields__) - {"text", "input_id"})
        return TurnRequest(text=self.words, input_id=self.key, **places)


@router.post("/chat", response_model=Answer)
async def chat(request: ChatRequest, services: Served) -> Response:
    """Say something to a soul. With `stream` the answer is `text/event-stream`."""
    turn = await begin(request, services)
    if request.stream:
        return event_stream(turn.events(PING_S))
    return JSONResponse(await turn.answer())


async def begin(request: ChatRequest, services: Services) -> RunningTurn:
    """A terminal that somebody speaks at is there."""
    turn = await services.runner.start(request.turn())
    if request.terminal_id:
        services.presence.spoken_at(request.terminal_id)
    return turn
