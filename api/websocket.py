"""`/v1/chat/ws`: many turns over one web socket, and the other events of the souls it talks or listens to."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import aclosing, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, WebSocket, WebSocketDisconnect, status
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from soulgraph.api.access import Caller
from soulgraph.api.auth import caller_of, until_refused
from soulgraph.api.chat import ChatRequest, StopRequest, begin, resume, stop_turns
from soulgraph.api.fields import Id, UserIdOrNobody
from soulgraph.api.problems import invalid
from soulgraph.api.resuming import ResumedTurn
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import PING_S
from soulgraph.api.stream import EventId, follow
from soulgraph.errors import Busy, InvalidInput, SoulgraphError, Unauthorized
from soulgraph.runtime.listener import Listener
from soulgraph.runtime.notices import Notice, encode_json
from soulgraph.stores.records import Json

router = APIRouter(prefix="/v1", tags=["chat"])

PROTOCOL = "soulgraph"
MAX_TURNS = 64
MAX_SOULS = 256

_BEARER = "bearer."


class Chat(ChatRequest):
    type: Literal["chat"]
    after: EventId | None = None


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


ClientMessage = Chat | Stop | Ping | Listen | Unlisten
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

    async def run(self) -> int | None:
        """Serve the socket until one side closes it; returns the code to close with, None if the client has closed."""
        loops = [asyncio.create_task(loop) for loop in (self._read(), self._send_notices(), self._watch_key())]
        try:
            ended, _ = await asyncio.wait(loops, return_when=asyncio.FIRST_COMPLETED)
            return ended.pop().result()
        finally:
            # This cancels only the relaying of events; the turns themselves are tasks of the runner.
            tasks = [*loops, *self._turns.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> int | None:
        """Handle messages until the client disconnects (None) or its key is no longer valid (a close code)."""
        while (frame := await self._socket.receive())["type"] != "websocket.disconnect":
            message: Json = {}
            try:
                message = _parse(frame.get("text") or frame.get("bytes") or "")
                await self._handle(_validate(message))
            except SoulgraphError as error:
                await self._send_frame("error", encode_json(error.problem()), _ids(message))
                if isinstance(error, Unauthorized):
                    return status.WS_1008_POLICY_VIOLATION
        return None

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
                await stop_turns(message.session_id, message, await self._caller(), self._services)

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
        caller = await self._caller()
        if len(self._turns) >= MAX_TURNS:
            raise Busy(f"{MAX_TURNS} turns of this socket are under way: wait for one of them", retry_after_s=1)
        turn = await self._open(message, caller)
        self._services.listeners.subscribe(self._listener, turn.utterance["soul_id"], turn.utterance["user_id"])
        if earlier := self._turns.get(turn.turn_id):
            earlier.cancel()  # or the socket would hear everything twice
        self._turns[turn.turn_id] = asyncio.create_task(self._relay(turn))

    async def _open(self, message: Chat, caller: Caller) -> ResumedTurn:
        if message.after:
            return await resume(message, message.after, caller, self._services)
        turn = await begin(message, caller, self._services)
        return ResumedTurn(turn.turn_id, turn.utterance, turn.events(self._services.wait_intervals))

    async def _caller(self) -> Caller:
        """Asked for every message: the key may have been revoked since the socket was opened."""
        return await identify_socket(self._socket, self._services)

    async def _watch_key(self) -> int:
        """Returns the close code when the key is revoked: who only listens sends no message that would notice it."""
        await until_refused(self._socket, secret_of(self._socket), self._services)
        return status.WS_1008_POLICY_VIOLATION

    async def _relay(self, turn: ResumedTurn) -> None:
        ids = _ids(turn.utterance)
        async with aclosing(turn.events) as events:
            with suppress(WebSocketDisconnect):
                async for event in events:
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
        try:
            await self._socket.send_text(f'{{"event":"{event}",{ids}"data":{data}}}')
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
        raise InvalidInput("a message is an object with a `type`: `chat`, `stop`, `listen`, `unlisten` or `ping`")
    return message


def _validate(message: Json) -> ClientMessage:
    try:
        return _message.validate_python(message)
    except ValidationError as error:
        raise invalid(error.errors()) from error
