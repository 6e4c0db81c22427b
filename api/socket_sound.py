"""What one web socket hears as recordings, and what is said aloud on it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import cast

from fastapi import WebSocketDisconnect

from soulgraph.api.socket_audio import BeginAudio, IncomingAudio, Speak
from soulgraph.api.socket_speech import SendSpeech, SpokenReply
from soulgraph.errors import InvalidInput, SoulgraphError, TurnStopped
from soulgraph.nodes.state import Utterance
from soulgraph.runtime.speech_ports import SpeechPorts
from soulgraph.soul.constants import Constants
from soulgraph.stores.records import Json
from soulgraph.voices.recognition import Transcript


class SocketSound:
    """`require_room` raises Busy if no further turn may begin, `answer` begins that of what was understood, and `fail`
    tells what has gone wrong before there was one."""

    def __init__(
        self,
        speech: SpeechPorts,
        constants: Constants,
        require_room: Callable[[], None],
        answer: Callable[[BeginAudio, Transcript], Awaitable[None]],
        fail: Callable[[SoulgraphError, BeginAudio], Awaitable[None]],
    ) -> None:
        self._speech = speech
        self._constants = constants
        self._require_room = require_room
        self._answer = answer
        self._fail = fail
        self._recording: IncomingAudio | None = None
        self._understanding: dict[asyncio.Task[None], BeginAudio] = {}
        self._speaking: dict[asyncio.Task[None], Utterance] = {}

    @property
    def recording(self) -> IncomingAudio | None:
        """The one that is open: binary messages are its audio."""
        return self._recording

    @property
    def waiting(self) -> int:
        """How many recordings are being understood."""
        return len(self._understanding)

    @property
    def tasks(self) -> Iterable[asyncio.Task[None]]:
        return (*self._understanding, *self._speaking)

    def check(self, speak: Speak | None) -> None:
        """Raise what would keep a reply from being said, before there is one."""
        if speak:
            self._speech.speaking.check(speak.saying(""))

    def say(self, utterance: Utterance, speak: Speak, send: SendSpeech) -> SpokenReply:
        """What says the reply of a turn, as far as it hears its events."""
        spoken = SpokenReply(self._speech.speaking, speak, self._constants, send)
        task = spoken.start()
        self._speaking[task] = utterance
        task.add_done_callback(self._speaking.pop)
        return spoken

    def stop(self, session_id: str, input_id: str | None) -> None:
        """What is being understood there is dropped, and nothing more is said."""
        for task, begin in self._understanding.items():
            if begin.session_id in (None, session_id) and input_id in (None, begin.input_id):
                task.cancel()
        ids = {"session_id": session_id} | ({"input_id": input_id} if input_id else {})
        self._stop_saying(lambda utterance: ids.items() <= cast(Json, utterance).items())

    def stop_saying(self, turn_id: str) -> None:
        self._stop_saying(lambda utterance: utterance["turn_id"] == turn_id)

    def _stop_saying(self, concerns: Callable[[Utterance], bool]) -> None:
        for task, utterance in self._speaking.items():
            if concerns(utterance):
                task.cancel()

    def begin(self, begin: BeginAudio) -> None:
        """Raises what would keep the recording from being understood; what comes of it is then forgotten."""
        if self._recording and not self._recording.refused:
            raise InvalidInput("a recording is open on this socket: `end` or `cancel` it before the next")
        self.forget()
        self._recording = IncomingAudio(begin)
        try:
            _ = self._speech.hearing
            self.check(begin.speak)
        except SoulgraphError:
            self._recording.refused = True
            raise

    def refuse(self) -> None:
        """A recording that makes no sense was begun: what follows is audio all the same."""
        self._recording = self._recording or IncomingAudio.refusing()

    def forget(self) -> None:
        if self._recording:
            self._recording.close()
        self._recording = None

    async def end(self) -> None:
        """Understand what was recorded beside everything else; the next recording may begin."""
        incoming = self._recording
        if incoming is None:
            raise InvalidInput("no recording is open on this socket: send `begin` and the audio first")
        if incoming.refused:
            return self.forget()  # it has been told
        self._recording = None
        task = asyncio.create_task(self._understand(incoming), name="recording")
        self._understanding[task] = incoming.begin
        task.add_done_callback(self._understanding.pop)
        await asyncio.sleep(0)  # a task that is cancelled before it has begun would clean up nothing
        return None

    async def _understand(self, incoming: IncomingAudio) -> None:
        """Hear what was said, and have it answered. What goes wrong is told, and nothing is stored."""
        begin = incoming.begin
        try:
            self._require_room()
            await self._answer(begin, await self._speech.hearing.recognise(incoming.recording(), begin.language))
        except SoulgraphError as error:
            await self._tell(error, begin)
        except asyncio.CancelledError:
            await self._tell(TurnStopped("the recording was stopped before it was understood"), begin)
            raise
        finally:
            incoming.close()

    async def _tell(self, error: SoulgraphError, begin: BeginAudio) -> None:
        with suppress(WebSocketDisconnect):
            await self._fail(error, begin)
