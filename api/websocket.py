"""`/v1/chat/ws`: many turns over one web socket, and the other events of the souls it talks or listens to."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, WebSocket, WebSocketDisconnect, status
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from soulgraph.api.access import Caller
from soulgraph.api.auth import caller_of, until_refused
from soulgraph.api.chat import ChatRequest, StopRequest, resume, stop_turns
from soulgraph.api.chat import begin as start_turn
from soulgraph.api.fields import Id, UserIdOrNobody
from soulgraph.api.problems import invalid
from soulgraph.api.resuming import ResumedTurn
from soulgraph.api.services import Served, Services
from soulgraph.api.socket_audio import AudioMessage, BeginAudio, CancelAudio, EndAudio, Speak
from soulgraph.api.socket_sound import SocketSound
from soulgraph.api.socket_speech import SpokenReply
from soulgraph.api.sse import PING_S
from soulgraph.api.stream import EventId, follow
from soulgraph.errors import Busy, InvalidInput, SoulgraphError, Unauthorized
from soulgraph.nodes.state import Utterance
from soulgraph.runtime.listener import Listener
from soulgraph.runtime.notices import Notice, encode_json
from soulgraph.stores.records import Json
from soulgraph.voices.recognition import Transcript

router = APIRouter(prefix="/v1", tags=["chat"])

PROTOCOL = "soulgraph"
MAX_TURNS = 64
MAX_SOULS = 256

_BEARER = "bearer."


class Chat(ChatRequest):
    type: Literal["chat"]
    after: EventId | None = None
    speak: Speak | None = None


class Ping(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["ping"]


class Listen(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["listen"]
    soul_id: Id
    user_id: UserIdOrNobody | None = None
    after: EventId | None = None
    nodes: bool = False


class Unlisten(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["unlisten"]
    soul_id: Id


class Stop(StopRequest):
    type: Literal["stop"]
    session_id: Id


ClientMessage = Chat | AudioMessage | Stop | Ping | Listen | Unlisten
_message: TypeAdapter[ClientMessage] = TypeAdapter(Annotated[ClientMessage, Field(discriminator="type")])


async def identify_socket(socket: WebSocket, services: Served) -> Caller:
    return await caller_of(socket, secret_of(socket), services)


def secret_of(socket: WebSocket) -> str | None:
    """The API key from the Authorization header, or from a subprotocol `bearer.<key>`; None if there is none.

    Browsers cannot set headers of a web socket, so the subprotocol is the only way for them.
    """
    scheme, _, secret = socket.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return secret
    offered: Iterable[str] = socket.scope["subprotocols"]
    return next((name.removeprefix(_BEARER) for name in offered if name.startswith(_BEARER)), None)


Connecting = Annotated[Caller, Depends(identify_socket)]


@router.websocket("/chat/ws")
async def converse(socket: WebSocket, _caller: Connecting, services: Served) -> None:
    """Serve the socket until one side closes it. Turns that are running then go on to their end."""
    await socket.accept(PROTOCOL if PROTOCOL in socket.scope["subprotocols"] else None)
    turns: dict[str, asyncio.Task[None]] = {}
    with services.listeners.connect(own_turns=turns) as listener, suppress(WebSocketDisconnect):
        code = await Conversation(socket, services, listener, turns).run()
        if code is not None:
            await socket.close(code)


class Conversation:
    """One open socket. A client that reads slowly delays nobody else: its turns run on and their events queue up.

    `turns` holds the tasks that relay the events of its turns, by turn id.
    """

    def __init__(
        self,
        socket: WebSocket,
        services: Services,
        listener: Listener,
        turns: dict[str, asyncio.Task[None]],
    ) -> None:
        self._socket = socket
        self._services = services
        self._listener = listener
        self._turns = turns
        constants = services.context.constants
        self._sound = SocketSound(services.speech, constants, self._require_room, self._answer, self._send_error)
        self._audio_out = asyncio.Lock()

    async def run(self) -> int | None:
        """Serve the socket until one side closes it; returns the code to close with, None if the client has closed."""
        loops = [asyncio.create_task(loop) for loop in (self._read(), self._send_notices(), self._watch_key())]
        try:
            ended, _ = await asyncio.wait(loops, return_when=asyncio.FIRST_COMPLETED)
            return ended.pop().result()
        finally:
            # This cancels only the relaying of events; the turns themselves are tasks of the runner.
            tasks = [*loops, *self._turns.values(), *self._sound.tasks]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._sound.forget()

    async def _read(self) -> int | None:
        """Handle messages until the client disconnects (None) or its key is no longer valid (a close code)."""
        while (frame := await self._socket.receive())["type"] != "websocket.disconnect":
            message: Json = {}
            try:
                if (recording := self._sound.recording) and frame.get("bytes") is not None:
                    message = recording.begin.model_dump()
                    recording.write(frame["bytes"])
                    continue
                message = _parse(frame.get("text") or frame.get("bytes") or "")
                await self._handle(self._validate(message))
            except SoulgraphError as error:
                await self._send_frame("error", encode_json(error.problem()), _ids(message))
                if isinstance(error, Unauthorized):
                    return status.WS_1008_POLICY_VIOLATION
        return None

    def _validate(self, message: Json) -> ClientMessage:
        try:
            return _message.validate_python(message)
        except ValidationError as error:
            if (message.get("type"), message.get("action")) == ("audio", "begin"):
                self._sound.refuse()
            raise invalid(error.errors()) from error

    async def _handle(self, message: ClientMessage) -> None:
        match message:
            case Ping():
                # After what this server has told before it, so that who pings has heard everything.
                await self._services.bus.settled()
                self._listener.push(Notice("pong", {}))
            case Unlisten():
                self._services.listeners.unsubscribe(self._listener, message.soul_id)
                await self._send_frame("unlistened", encode_json({"soul_id": message.soul_id}))
            case Listen():
                await self._listen(message)
            case Chat():
                await self._chat(message)
            case Stop():
                self._sound.stop(message.session_id, message.input_id)
                await stop_turns(message.session_id, message, await self._caller(), self._services)
            case BeginAudio():
                self._sound.begin(message)
            case CancelAudio():
                self._sound.forget()
            case EndAudio():
                await self._sound.end()

    async def _listen(self, message: Listen) -> None:
        """Let the socket hear everything of a soul; what it hears first is queued, so that nothing comes between."""
        caller = (await self._caller()).acting_for(message.user_id)
        async with self._services.stores.read() as tx:
            soul = await caller.soul(tx, message.soul_id)
        if len({soul.soul_id, *(one.soul_id for one in self._listener.subscriptions)}) > MAX_SOULS:
            raise InvalidInput(f"a socket listens to {MAX_SOULS} souls at most: `unlisten` to one of them")
        await follow(self._listener, soul, caller, self._services, message.after, message.nodes)

    async def _chat(self, message: Chat) -> None:
        """Start a turn, and let the socket hear what the soul says and how it changes from now on."""
        self._require_room()
        self._sound.check(message.speak)
        self._follow(await self._open(message, await self._caller()), message.speak)

    def _require_room(self) -> None:
        if len(self._turns) + self._sound.waiting >= MAX_TURNS:
            raise Busy(f"{MAX_TURNS} turns of this socket are under way: wait for one of them", retry_after_s=1)

    def _follow(self, turn: ResumedTurn, speak: Speak | None) -> None:
        self._services.listeners.subscribe(self._listener, turn.utterance["soul_id"], turn.utterance["user_id"])
        if earlier := self._turns.get(turn.turn_id):
            earlier.cancel()  # or the socket would hear everything twice
            self._sound.stop_saying(turn.utterance["turn_id"])
        spoken = self._spoken(turn.utterance, speak) if speak else None
        self._turns[turn.turn_id] = asyncio.create_task(self._relay(turn, spoken))

    def _spoken(self, utterance: Utterance, speak: Speak) -> SpokenReply:
        async def send(event: str, data: Json, audio: bytes | None) -> None:
            with suppress(WebSocketDisconnect):
                async with self._audio_out:  # the audio follows its announcement, and nobody else's
                    await self._send_frame(event, encode_json(data), _ids(utterance))
                    if audio is not None:
                        await self._send_bytes(audio)

        return self._sound.say(utterance, speak, send)

    async def _answer(self, begin: BeginAudio, transcript: Transcript) -> None:
        heard = {"text": transcript.text, "speakers": [*transcript.speakers], "language": transcript.language}
        request = begin.turn(transcript.text)
        try:
            turn = await start_turn(request, await self._caller(), self._services, transcript.speakers)
        except SoulgraphError:
            await self._send_frame("transcript", encode_json(heard | {"user_id": None}), _ids(begin.model_dump()))
            raise
        heard["user_id"] = turn.utterance["user_id"]
        await self._send_frame("transcript", encode_json(heard), _ids(turn.utterance))
        events = turn.events(self._services.wait_intervals)
        self._follow(ResumedTurn(turn.turn_id, turn.utterance, events), begin.speak)

    async def _send_error(self, error: SoulgraphError, begin: BeginAudio) -> None:
        await self._send_frame("error", encode_json(error.problem()), _ids(begin.model_dump()))

    async def _open(self, message: Chat, caller: Caller) -> ResumedTurn:
        if message.after:
            return await resume(message, message.after, caller, self._services)
        turn = await start_turn(message, caller, self._services)
        return ResumedTurn(turn.turn_id, turn.utterance, turn.events(self._services.wait_intervals))

    async def _caller(self) -> Caller:
        """Asked for every message: the key may have been revoked since the socket was opened."""
        return await identify_socket(self._socket, self._services)

    async def _watch_key(self) -> int:
        """Returns the close code when the key is revoked: who only listens sends no message that would notice it."""
        await until_refused(self._socket, secret_of(self._socket), self._services)
        return status.WS_1008_POLICY_VIOLATION

    async def _relay(self, turn: ResumedTurn, spoken: SpokenReply | None = None) -> None:
        ids = _ids(turn.utterance)
        async with aclosing(turn.events) as events:
            with suppress(WebSocketDisconnect):
                async for event in events:
                    if spoken:
                        spoken.hear(event)
                    await self._send_frame(event.event, event.json, f'"id":"{event.id}",{ids}')
        del self._turns[turn.turn_id]

    async def _send_notices(self) -> int:
        """Send the notices of the subscribed souls; returns the close code when the server shuts down."""
        async for notice in self._listener.events(PING_S):
            if notice:
                await self._send_frame(notice.event, notice.json, f'"id":"{notice.id}",' if notice.id else "")
        return status.WS_1001_GOING_AWAY

    async def _send_frame(self, event: str, data: str, ids: str = "") -> None:
        """Send an event whose `data` is JSON already; `ids` are the fields between it and the name.

        Put together by hand: this is done for every token, and what is the same for all of them is encoded once.
        """
        with _told_as_disconnect():
            await self._socket.send_text(f'{{"event":"{event}",{ids}"data":{data}}}')

    async def _send_bytes(self, audio: bytes) -> None:
        with _told_as_disconnect():
            await self._socket.send_bytes(audio)


@contextmanager
def _told_as_disconnect() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # the server itself has closed it, for a text that is no UTF-8
        raise WebSocketDisconnect(status.WS_1006_ABNORMAL_CLOSURE) from error


def _ids(request: Mapping[str, Any]) -> str:
    """The fields of a frame that tell which request it answers."""
    fields = {name: request.get(name) for name in ("session_id", "input_id")}
    return encode_json(fields)[1:-1] + ","


def _parse(raw: str | bytes) -> Json:
    try:
        message = from_json(raw)
    except ValueError as error:
        raise InvalidInput(f"this is no JSON: {error}") from error
    if not isinstance(message, dict):
        raise InvalidInput(
            "a message is an object with a `type`: `chat`, `audio`, `stop`, `listen`, `unlisten` or `ping`"
        )
    return message
