"""A xiaozhi device that is connected: what it says becomes turns; what its soul says, feels and does reaches it."""

import asyncio
import logging
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import uuid4

from aiomqtt import MqttError
from fastapi import WebSocket, WebSocketDisconnect, status
from pydantic import ValidationError

from soulgraph.api.auth import until_refused
from soulgraph.api.chat import ChatRequest, begin
from soulgraph.api.problems import invalid
from soulgraph.api.services import Services
from soulgraph.api.websocket import identify_socket, secret_of
from soulgraph.errors import SoulgraphError
from soulgraph.runtime.running_turn import RunningTurn
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.mood import mood_of
from soulgraph.stores.records import Json
from soulgraph.terminals.link import Link
from soulgraph.terminals.tunnel import TUNNEL
from soulgraph.terminals.xiaozhi import messages
from soulgraph.terminals.xiaozhi.faces import FACES
from soulgraph.terminals.xiaozhi.messages import Abort, Heard, Hello, Listening, Mcp, Things, Writer
from soulgraph.terminals.xiaozhi.skills import IotThings, McpTools, usable
from soulgraph.voices.sentences import Sentences, sentences_of

_RETRY_S = 2.0
_VERSION = 1
_NO_EARS = (
    "听不见 · cannot hear",
    "这里还听不懂声音，只看得懂文字 · sound is not understood here yet, only text is",
)
_NO_HELLO = ("先打招呼 · hello first", "先发送 hello · send `hello` first")

_log = logging.getLogger(__name__)


class Device:
    """One open socket. Toward the broker it is a terminal like any other, as long as the socket is open."""

    def __init__(self, socket: WebSocket, services: Services, terminal_id: str) -> None:
        self._socket = socket
        self._services = services
        self._terminal_id = terminal_id
        self._writer = Writer(uuid4().hex)
        self._things = IotThings(self._writer, self._send)
        self._tools = McpTools(self._writer, self._send)
        self._greeted = False
        self._told_no_ears = False
        self._face = ""
        self._turn: RunningTurn | None = None
        self._answering: asyncio.Task[None] | None = None
        self._link: Link | None = None

    async def run(self) -> bool:
        """Serve until one side ends it; returns whether that was because the key is no longer valid."""
        watching = asyncio.create_task(until_refused(self._socket, secret_of(self._socket), self._services))
        reading = asyncio.create_task(self._read())
        body = asyncio.create_task(self._be_terminal())
        try:
            await asyncio.wait({watching, reading}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done():
                reading.result()
            return not reading.done()
        finally:
            tasks = [one for one in (watching, reading, body, self._answering) if one]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self) -> None:
        """Handle what the device says until it leaves. What makes no sense is told in the log, and passed over."""
        while (frame := await self._socket.receive())["type"] != "websocket.disconnect":
            try:
                if frame.get("text") is None:
                    await self._hear_sound()
                else:
                    await self._handle(messages.read(frame["text"]))
            except SoulgraphError as error:
                _log.warning("xiaozhi: %s: %s", self._terminal_id, error.detail[:200])

    async def _handle(self, message: messages.Message) -> None:
        match message:
            case Hello():
                await self._greet(message)
            case Heard() if not self._greeted:
                await self._send(self._writer.alert(*_NO_HELLO))
            case Heard(text):
                await self._abort()
                self._answering = asyncio.create_task(self._answer(text))
            case Listening("start"):
                await self._hear_sound()
            case Abort():
                await self._abort()
                await self._send(self._writer.tts("stop"))
            case Things(descriptors, states):
                await self._take_things(descriptors, states)
            case Mcp(payload):
                if await self._tools.hear(payload):
                    await self._report()

    async def _greet(self, hello: Hello) -> None:
        self._greeted = True
        await self._send(self._writer.hello(hello.audio))
        if hello.has_mcp:
            await self._tools.begin()

    async def _hear_sound(self) -> None:
        if not self._told_no_ears:
            self._told_no_ears = True
            await self._send(self._writer.alert(*_NO_EARS))

    async def _take_things(self, descriptors: list[Json], states: list[Json]) -> None:
        for descriptor in descriptors:
            self._things.describe(descriptor)
        for state in states:
            self._things.note(state)
        if descriptors:
            await self._report()

    async def _abort(self) -> None:
        """Stop the turn under way, if there is one, and say nothing more of it."""
        if self._turn:
            self._turn.stop()
        if self._answering:
            self._answering.cancel()
            await asyncio.wait({self._answering})
        self._turn = self._answering = None

    async def _answer(self, text: str) -> None:
        """One turn: what was understood, the face, and sentence after sentence."""
        await self._send(self._writer.stt(text))
        try:
            caller = await identify_socket(self._socket, self._services)
            self._turn = await begin(_request(text, self._terminal_id), caller, self._services)
            await self._speak(self._turn)
        except SoulgraphError as error:
            await self._send(self._writer.alert(error.problem_code, error.detail))
        self._turn = None

    async def _speak(self, turn: RunningTurn) -> None:
        sentences, started = Sentences(), False
        async for event in turn.events(self._services.wait_intervals):
            if event.event in ("emotion", "token") and not started:
                started = True
                await self._show(event.data.get("soul_emotion"))
                await self._send(self._writer.tts("start"))
            if event.event == "token":
                await self._say(sentences.feed(event.data["text"]))
            elif event.event == "error":
                await self._send(self._writer.alert(event.data["code"], event.data["detail"]))
        if started:
            await self._say(sentences.rest())
            await self._send(self._writer.tts("stop"))

    async def _say(self, sentences: list[str]) -> None:
        for sentence in sentences:
            await self._send(self._writer.tts("sentence_start", sentence))

    async def _show(self, emotion: Any, only_changes: bool = False) -> None:
        """Make the face of a mood."""
        if emotion is None:
            return
        face = FACES[mood_of(EmotionState.from_dict(emotion), self._services.context.constants)]
        if not only_changes or face != self._face:
            await self._send(self._writer.face(face))
        self._face = face

    async def _be_terminal(self) -> None:
        """Be online at the broker, so that skills are used, proactive words said, and faces made between turns."""
        hub = self._services.context.outlets.hub
        while hub is not None:
            broker = replace(hub.broker, client_id=f"{TUNNEL}xiaozhi-{uuid4().hex[:12]}")
            try:
                async with Link.open(broker, self._terminal_id, self._use) as self._link:
                    await self._report()
                    async for kind, payload in self._link.messages():
                        await self._handle_own(kind, payload)
            except MqttError as error:
                _log.warning("xiaozhi: %s has lost the broker (%s); trying again", self._terminal_id, error)
            self._link = None
            await asyncio.sleep(_RETRY_S)

    async def _handle_own(self, kind: str, payload: Json) -> None:
        """What the soul sends to this terminal beside its turns."""
        if kind == "emotion_update" and self._greeted and self._turn is None:
            await self._show(payload["soul_emotion"], only_changes=True)
        elif kind == "proactive":
            await self._send(self._writer.tts("start"))
            await self._say(sentences_of(payload["text"]))
            await self._send(self._writer.tts("stop"))

    async def _report(self) -> None:
        """Report what the device can do, as soon as it has said that and the broker is there."""
        skills = usable(self._tools.skills() + self._things.skills())
        if self._link and skills:
            with suppress(MqttError):  # the next connection reports it again
                await self._link.report([], skills, _VERSION, None)

    async def _use(self, skill: str, arguments: Json) -> Json:
        for use in (self._tools.use, self._things.use):
            if (result := await use(skill, arguments)) is not None:
                return result
        return {"ok": False, "error": f"there is no skill {skill!r}"}

    async def _send(self, text: str) -> None:
        try:
            await self._socket.send_text(text)
        except RuntimeError as error:  # the socket is closed already
            raise WebSocketDisconnect(status.WS_1006_ABNORMAL_CLOSURE) from error


def _request(text: str, terminal_id: str) -> ChatRequest:
    try:
        return ChatRequest(text=text, terminal_id=terminal_id)
    except ValidationError as error:
        raise invalid(error.errors()) from error
