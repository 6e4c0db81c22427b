"""A reply that is said aloud over a web socket, sentence by sentence, while it is still being written."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from soulgraph.api.socket_audio import Speak
from soulgraph.errors import SoulgraphError
from soulgraph.runtime.turn_log import StreamedEvent
from soulgraph.soul.constants import Constants
from soulgraph.soul.emotions import EmotionState
from soulgraph.soul.prosody import manner_of
from soulgraph.stores.records import Json
from soulgraph.voices.audio import PCM_RATE, read_wav, with_true_length
from soulgraph.voices.sentences import Sentences, spoken
from soulgraph.voices.synthesis import Saying, Synthesiser, heard_whole

SendSpeech = Callable[[str, Json, bytes | None], Coroutine[Any, Any, None]]
"""Sends an event, and behind it the audio that it announces."""


class SpokenReply:
    """Hears the events of a turn and says its words: `speech` for each sentence, and `speech_done` in the end."""

    def __init__(self, synthesiser: Synthesiser, speak: Speak, constants: Constants, send: SendSpeech) -> None:
        self._synthesiser = synthesiser
        self._speak = speak
        self._constants = constants
        self._send = send
        self._sentences = Sentences()
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._emotion: EmotionState | None = None
        self._count = 0
        self._heard = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        self._task = asyncio.create_task(self._run(), name="spoken reply")
        return self._task

    def stop(self) -> None:
        """Say nothing more; what was said is told all the same."""
        if self._task:
            self._task.cancel()

    def hear(self, event: StreamedEvent) -> None:
        match event.event:
            case "emotion":
                self._emotion = EmotionState.from_dict(event.data["soul_emotion"])
            case "restart":
                self._sentences = Sentences()
            case "token":
                self._say(self._sentences.feed(event.data["text"]))
            case "done":
                self._say(self._sentences.rest())
                if not self._heard:  # a prepared answer does not come in pieces
                    self._say(filter(None, [spoken(event.data["reply"])]))
                self._queue.put_nowait(None)
            case "error":
                self._queue.put_nowait(None)

    def _say(self, sentences: Iterable[str]) -> None:
        for sentence in sentences:
            self._heard = True
            self._queue.put_nowait(sentence)

    async def _run(self) -> None:
        ended: Json = {"stopped": False, "problem": None}
        try:
            while sentence := await self._queue.get():
                await self._say_aloud(sentence)
        except SoulgraphError as error:
            ended["problem"] = error.problem()
        except asyncio.CancelledError:
            ended["stopped"] = True
        await self._send("speech_done", {"sentences": self._count, **ended}, None)

    async def _say_aloud(self, sentence: str) -> None:
        saying = self._in_mood(self._speak.saying(sentence))
        audio = await heard_whole(await self._synthesiser.speak(saying))
        rate = PCM_RATE if saying.format == "pcm" else None
        if saying.format == "wav":
            audio = with_true_length(audio)
            rate = read_wav(audio, len(audio)).rate
        told = {"index": self._count, "text": sentence, "format": saying.format, "sample_rate": rate}
        self._count += 1
        # Not broken off in the middle: who has heard of audio gets it.
        await asyncio.shield(self._send("speech", {**told, "bytes": len(audio)}, audio))

    def _in_mood(self, saying: Saying) -> Saying:
        """As the soul feels after what was said to it."""
        if self._emotion is None:
            return saying
        return saying.in_manner(*manner_of(self._emotion, saying.text, self._constants))
