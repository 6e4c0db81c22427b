"""Many turns over one socket, and what happens to the souls it speaks to between them."""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, WebSocket, WebSocketDisconnect, status
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from soulgraph.api.auth import CHATTERS, admit, refuse_strangers
from soulgraph.api.chat import ChatRequest, begin
from soulgraph.api.problems import invalid, problem
from soulgraph.api.services import Served, Services
from soulgraph.api.sse import PING_S
from soulgraph.errors import Busy, InvalidInput, SoulgraphError, Unauthorized
from soulgraph.runtime.listeners import Listener
from soulgraph.runtime.turn_runner import RunningTurn
from soulgraph.stores.records import Json

router = APIRouter(prefix="/v1", tags=["chat"])

PROTOCOL = "soulgraph"
MAX_TURNS = 64

_BEARER = "bearer."


class Chat(ChatRequest):
    type: Literal["chat"]


class Ping(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["ping"]


_message: TypeAdapter[Chat | Ping] = TypeAdapter(Annotated[Chat | Ping, Field(discriminator="type")])


@router.websocket("/chat/ws")
async def converse(socket: WebSocket, services: Served) -> None:
    """Open until one side leaves; a turn goes on without its listener."""
    secret = _secret(socket)
    try:
        refuse_strangers(socket, services)
        await admit(services, secret, *CHATTERS)
    except SoulgraphError as refusal:
        return await socket.send_denial_response(problem(refusal, socket.url.path))
    await socket.accept(PROTOCOL if PROTOCOL in socket.scope["subprotocols"] else None)
    turns: dict[str, asyncio.Task[None]] = {}
    with services.listeners.line(own_turns=turns) as line, suppress(WebSocketDisconnect):
        code = await Conversation(socket, services, secret, line, turns).hold()
        if code is not None:
            await socket.close(code)
    return None


def _secret(socket: WebSocket) -> str | None:
    """The key, in the usual header or, from a browser that cannot set it, among the protocols it offers."""
    scheme, _, secret = socket.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return secret
    offered: Iterable[str] = socket.scope["subprotocols"]
    return next((one.removeprefix(_BEARER) for one in offered if one.startswith(_BEARER)), None)


class Conversation:
    """One socket. Who reads slowly delays nobody else: its turns run on, and what it is not sent waits with them."""

    def __init__(
        self,
        socket: WebSocket,
        services: Services,
        secret: str | None,
        line: Listener,
        turns: dict[str, asyncio.Task[None]],
    ) -> None:
        self._socket = socket
        self._services = services
        self._secret = secret
        self._line = line
        self._turns = turns

    async def hold(self) -> int | None:
        """Until one side leaves; the code to close with, or none if the other side has closed."""
        sides = [asyncio.create_task(self._read()), asyncio.create_task(self._tell_news())]
        try:
            ended, _ = await asyncio.wait(sides, return_when=asyncio.FIRST_COMPLETED)
            return ended.pop().result()
        finally:
            tasks = [*sides, *self._turns.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> int | None:
        while (message := await self._socket.receive())["type"] != "websocket.disconnect":
            asked: Json = {}
            try:
                asked = _object(message.get("text") or message.get("bytes") or "")
                await self._take(_wanted(asked))
            except SoulgraphError as error:
                await self._send("error", error.problem(), asked)
                if isinstance(error, Unauthorized):
                    return status.WS_1008_POLICY_VIOLATION
        return None

    async def _take(self, wanted: Chat | Ping) -> None:
        """The key may have been revoked since the socket was opened."""
        if isinstance(wanted, Ping):
            return await self._send("pong", {})
        await admit(self._services, self._secret, *CHATTERS)
        if len(self._turns) >= MAX_TURNS:
            raise Busy(f"{MAX_TURNS} turns of this socket are under way: wait for one of them", retry_after_s=1)
        turn = await begin(wanted, self._services)
        self._services.listeners.join(self._line, turn.utterance["soul_id"])
        self._turns[turn.utterance["turn_id"]] = asyncio.create_task(self._relay(turn))
        return None

    async def _relay(self, turn: RunningTurn) -> None:
        with suppress(WebSocketDisconnect):
            async for event in turn.events(PING_S):
                if event:
                    await self._send(event.event, event.data, turn.utterance)
        del self._turns[turn.utterance["turn_id"]]

    async def _tell_news(self) -> int:
        """Ends when the server does."""
        async for news in self._line.news(PING_S):
            if news:
                await self._send(news.event, news.data)
        return status.WS_1001_GOING_AWAY

    async def _send(self, event: str, data: Json, said: Mapping[str, Any] | None = None) -> None:
        """What comes of something that was said tells of what."""
        ids = {name: said.get(name) for name in ("session_id", "input_id")} if said is not None else {}
        await self._socket.send_json({"event": event, **ids, "data": data})


def _object(raw: str | bytes) -> Json:
    try:
        message = from_json(raw)
    except ValueError as error:
        raise InvalidInput(f"this is no JSON: {error}") from error
    if not isinstance(message, dict):
        raise InvalidInput("a message is an object with a `type`: `chat` or `ping`")
    return message


def _wanted(message: Json) -> Chat | Ping:
    try:
        return _message.validate_python(message)
    except ValidationError as error:
        raise invalid(error.errors()) from error
