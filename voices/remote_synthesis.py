"""Speech from a server with OpenAI's `/audio/speech`."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx

from soulgraph.errors import InvalidInput
from soulgraph.senses.endpoint import Endpoint
from soulgraph.soul.personality import clip
from soulgraph.voices.speech_service import SpeechService, complaint_of, open_service
from soulgraph.voices.synthesis import Saying, Speech

_PATH = "/audio/speech"
_SPEEDS = (0.25, 4.0)
_MAX_AUDIO = 64 * 1024 * 1024
_OPTIONAL = ("instructions", "speed")
_NO_AUDIO = ("application/json", "application/problem+json", "text/html", "text/plain")


class RemoteSynthesiser:
    def __init__(self, service: SpeechService) -> None:
        self._service = service
        self._refused: set[str] = set()

    @property
    def name(self) -> str:
        return f"{self._service.model} at {self._service.place}"

    def check(self, saying: Saying) -> None:
        """The server knows what it has."""

    async def speak(self, saying: Saying) -> Speech:
        """What the server does not take of how it is to be said is left out from then on."""
        while True:
            fields = self._fields(saying)
            try:
                return await self._open(fields)
            except InvalidInput as error:
                refused = {name for name in _OPTIONAL if name in fields and name in error.detail}
                if not refused:
                    raise
                self._refused |= refused

    def _fields(self, saying: Saying) -> dict[str, Any]:
        speed = round(clip(saying.speed * saying.prosody.rate, *_SPEEDS), 3)
        fields = {
            "model": self._service.model,
            "input": saying.text,
            "voice": saying.voice,
            "response_format": saying.format,
            **({"speed": speed} if speed != 1.0 else {}),
            **({"instructions": saying.instructions} if saying.instructions else {}),
        }
        return {name: value for name, value in fields.items() if name not in self._refused}

    async def _open(self, fields: dict[str, Any]) -> Speech:
        async with AsyncExitStack() as stack:
            response = await stack.enter_async_context(self._service.post(self._service.url(_PATH), json=fields))
            chunks = self._service.chunks(response, _MAX_AUDIO)
            first = await anext(chunks, b"")
            self._check_audio(response, first)
            return Speech(_prepend(first, chunks), stack.pop_all())

    def _check_audio(self, response: httpx.Response, first: bytes) -> None:
        """Raise SpeechError for what is none: some tell errors with status 200."""
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not first:
            raise self._service.failed("it answered without any audio")
        if kind in _NO_AUDIO:
            raise self._service.failed(f"it answered {kind} and no audio: {complaint_of(first)}")


async def _prepend(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for chunk in rest:
        yield chunk


@asynccontextmanager
async def open_remote_synthesiser(endpoint: Endpoint) -> AsyncIterator[RemoteSynthesiser]:
    async with open_service(endpoint, "SOULGRAPH_TTS", "speech service") as service:
        yield RemoteSynthesiser(service)
