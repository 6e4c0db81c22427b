"""`POST /v1/chat`: one turn, answered as JSON or streamed as server-sent events."""

from collections.abc import Collection
from dataclasses import replace
from typing import Annotated, Literal, Self

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from soulgraph.api.access import Caller
from soulgraph.api.auth import Speaker
from soulgraph.api.edits import Body, example, form
from soulgraph.api.examples import SOUL
from soulgraph.api.fields import MAX_TEXT, Id, MessageNumber, Text, UserId
from soulgraph.api.media import SSE, text
from soulgraph.api.raising import ANOTHER_PERSON, NOT_OF_THIS_INPUT, TURN, raises
from soulgraph.api.resuming import ResumedTurn, resume_turn
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import event_stream
from soulgraph.api.stream import LastEventId
from soulgraph.errors import InvalidInput, NotFound
from soulgraph.nodes.answer import Answer
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.runtime.speakers import for_speaker
from soulgraph.runtime.stops import StopOrder
from soulgraph.soul.validation import FLAG
from soulgraph.stores.stores import Stores, Transaction
from soulgraph.terminals.reports import SpeakerName

router = APIRouter(prefix="/v1", tags=["chat"])

_EVENTS = text(
    SSE,
    "with `stream`: what happens in the turn, then `done` with the answer, or `error` with a problem",
    'event: token\ndata: {"text": "I am here."}\nid: turn_c6ca.1.10.5f0b8d3e\n\n',
)


class ChatInput(BaseModel):
    """One input of the user, as a terminal reports it."""

    model_config = ConfigDict(extra="forbid")

    input_id: Id | None = None
    type: Literal["keyboard_text", "speech_text"] = "keyboard_text"
    source: str | None = None
    ts: float | str | None = None
    text: Text
    speaker: SpeakerName | None = Field(
        None,
        description="whom the recogniser heard: a person's id, or a name of its own; see people. It counts more than "
        "`user_id`, and nothing for a key that is one person",
    )


class ChatRequest(Body):
    model_config = example(
        {"soul_id": SOUL, "session_id": "first", "text": "I had a rough day", "input_id": "m-17"},
        {"session_id": "first", "replaces": 1, "text": "I had a rough week"},
        {"session_id": "first", "replaces": 1},
        one_of=[
            form("text", without=["inputs", "replaces"]),
            form("inputs", without=["text", "replaces"]),
            form("replaces", "session_id", without=["inputs"]),
            form("replaces", "session_id", without=["text"]),
        ],
    )

    text: Text | None = None
    input_id: Id | None = Field(None, description="the same id again gives the same answer and applies nothing twice")
    inputs: list[ChatInput] | None = Field(None, min_length=1, max_length=16)
    session_id: Id | None = Field(None, description="without it the usual conversation of this user goes on")
    soul_id: Id | None = Field(None, description="without it the terminal's soul is used")
    terminal_id: Id | None = None
    user_id: UserId | None = Field(None, description="who speaks; without it whose session it is, or whose terminal")
    character_id: Id | None = None
    background_id: Id | None = None
    template_id: Id | None = None
    replaces: MessageNumber | None = Field(
        None,
        description="a message of this person in the session: it and all after it are taken back when the answer is "
        "stored. With a text it is said otherwise, without one its own text is answered anew",
    )
    stream: Annotated[bool, FLAG] = False

    @model_validator(mode="after")
    def _check_text_or_inputs(self) -> Self:
        if self.replaces is not None and self.session_id is None:
            raise ValueError("`replaces` needs the `session_id` of the message")
        if self.text is not None and self.inputs is not None:
            raise ValueError("send either `text` or `inputs`")
        if self.replaces is None and self.text is None and self.inputs is None:
            raise ValueError("send either `text` or `inputs`")
        if len(self.speakers) > 1:
            raise ValueError("one turn has one speaker: send what each of them has said by itself")
        if len(self.full_text) > MAX_TEXT:
            raise ValueError(f"the inputs may have {MAX_TEXT} characters together")
        return self

    @property
    def full_text(self) -> str:
        """`text`, or the texts of all inputs, one per line; empty if a message is to be answered anew."""
        return self.text or "\n".join(entry.text for entry in self.inputs or [])

    @property
    def speakers(self) -> set[str]:
        """Whom a recogniser has heard."""
        return {entry.speaker for entry in self.inputs or [] if entry.speaker and entry.speaker.strip()}

    @property
    def key(self) -> str | None:
        """The idempotency key: `input_id`, or the ids of all inputs joined; None if none was sent."""
        ids = [entry.input_id for entry in self.inputs or [] if entry.input_id]
        return self.input_id or "+".join(ids) or None

    def turn(self) -> TurnRequest:
        ids = self.model_dump(include=set(TurnRequest.__dataclass_fields__) - {"text", "input_id"})
        return TurnRequest(text=self.full_text, input_id=self.key, **ids)


@router.post("/chat", response_model=Answer, responses={200: _EVENTS})
@raises(*TURN, NOT_OF_THIS_INPUT)
async def chat(request: ChatRequest, caller: Speaker, services: Served, last_event_id: LastEventId = None) -> Response:
    """Say something to a soul and get its answer. With `stream` the answer is `text/event-stream`.

    A stream that broke off goes on where it did if the same input is sent again with `Last-Event-ID`.
    """
    if request.stream and last_event_id:
        return event_stream((await resume(request, last_event_id, caller, services)).events)
    turn = await begin(request, caller, services)
    if request.stream:
        return event_stream(turn.events(services.wait_intervals))
    return JSONResponse(await turn.answer())


class StopRequest(Body):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"input_id": "m-17"}, {}]})

    user_id: UserId | None = Field(None, description="whose turns; without it the key's own person, for an owner all")
    input_id: Id | None = Field(None, description="which one; without it all that are under way in the session")


class StoppedOut(BaseModel):
    turn_ids: list[str] = Field(description="the turns that were told to stop")


@router.post("/sessions/{session_id}/stop")
@raises(ANOTHER_PERSON)
async def stop(session_id: Id, request: StopRequest, caller: Speaker, services: Served) -> StoppedOut:
    """Stop the turns under way: what was read of a reply is stored as the whole of it.

    A turn without a word so far ends with the problem `turn_stopped` and is not stored. Devices that move already are
    not stopped by this.
    """
    return StoppedOut(turn_ids=await stop_turns(session_id, request, caller, services))


async def stop_turns(session_id: str, request: StopRequest, caller: Caller, services: Services) -> list[str]:
    """Raises NotFound for a session that is not the caller's. One whose first turn runs is not stored yet."""
    caller = caller.acting_for(request.user_id)
    async with services.stores.read() as tx:
        session = await tx.sessions.find(session_id)
    if session and not caller.sees_session(session):
        raise NotFound("session", session_id)
    return await services.stops.stop(
        StopOrder(session_id, request.input_id, caller.person, caller.is_nobody, caller.soul_ids)
    )


async def begin(
    request: ChatRequest, caller: Caller, services: Services, speakers: Collection[str] = ()
) -> RunningTurn:
    """Start the turn, and record that the terminal it came from is online.

    `speakers` are whom our own recogniser has heard.
    """
    services.runner.require_room()
    turn = await services.runner.start(await _wanted(request, caller, services, speakers))
    if request.terminal_id:
        services.presence.spoken_at(request.terminal_id)
    return turn


async def resume(request: ChatRequest, last_event_id: str, caller: Caller, services: Services) -> ResumedTurn:
    """The turn with the same input, wherever it runs, from where it was heard last."""
    wanted = await _wanted(request, caller, services)
    return await resume_turn(wanted, last_event_id, lambda: begin(request, caller, services), services)


async def _wanted(
    request: ChatRequest, caller: Caller, services: Services, speakers: Collection[str] = ()
) -> TurnRequest:
    """The turn, with the person whom a recogniser has heard; a key that is somebody speaks for them alone."""
    turn = request.turn()
    if caller.acts_for_anybody:
        turn = await for_speaker(turn, speakers or request.speakers, services.settings.speaker_table, services.stores)
    return await for_caller(turn, caller, services.stores)


async def for_caller(request: TurnRequest, caller: Caller, stores: Stores) -> TurnRequest:
    """The request with the person for whom the caller speaks.

    Raises Forbidden if that may not be the one it names, and NotFound for what the caller may not use.
    """
    caller = caller.acting_for(request.user_id)
    if request.soul_id:
        caller.check_soul(request.soul_id)
    async with stores.read() as tx:
        session = await tx.sessions.find(request.session_id) if request.session_id else None
        if session and not caller.speaks_in(session):
            raise NotFound("session", session.session_id)
        if request.terminal_id:
            await caller.check_terminal(tx, request.terminal_id)
        await caller.check_background(tx, request.background_id)
        if request.replaces is not None and not request.text:
            await _check_length(tx, request.session_id or "", request.replaces)
    return replace(request, user_id=caller.person)


async def _check_length(tx: Transaction, session_id: str, message_id: int) -> None:
    """Raise InvalidInput if a message is too long to be answered anew: imported ones may be."""
    message = await tx.messages.find(session_id, message_id)
    if message and len(message.content) > MAX_TEXT:
        raise InvalidInput(f"replaces: the message has more than {MAX_TEXT} characters: send a shorter `text` with it")
