"""What turns text into speech: a server of others if one is configured, else the engine of this machine."""

import shutil
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol, Self

from soulgraph.senses.endpoint import Endpoint
from soulgraph.soul.prosody import NEUTRAL, Prosody
from soulgraph.voices.audio import OutFormat

DEFAULT_VOICE = "alloy"
ENGINE = "espeak-ng"
MAX_TEXT = 4096
HOW_TO_SPEAK = "install espeak-ng, or set SOULGRAPH_TTS_MODEL with SOULGRAPH_TTS_BASE_URL or SOULGRAPH_TTS_API_KEY"
HOW_TO_HEAR = "set SOULGRAPH_STT_MODEL with SOULGRAPH_STT_BASE_URL or SOULGRAPH_STT_API_KEY"


@dataclass(frozen=True, slots=True)
class Saying:
    """What is to be said, and how. `instructions` are words for voices that understand them."""

    text: str
    format: OutFormat = "mp3"
    voice: str = ""
    speed: float = 1.0
    prosody: Prosody = NEUTRAL
    instructions: str = ""

    def in_manner(self, prosody: Prosody, words: str) -> Self:
        """The same in the voice of a mood, beside what was asked for."""
        told = " ".join(filter(None, (self.instructions, words)))
        return replace(self, prosody=prosody, instructions=told)


@dataclass(frozen=True, slots=True)
class Speech:
    """The audio in pieces, as an async context manager: `held` is freed in the end, heard or not."""

    pieces: AsyncIterator[bytes]
    held: AsyncExitStack

    async def __aenter__(self) -> AsyncIterator[bytes]:
        return self.pieces

    async def __aexit__(self, *_: object) -> None:
        await self.held.aclose()


class Synthesiser(Protocol):
    """Whatever it can raise before the first piece, it raises there."""

    @property
    def name(self) -> str: ...

    def check(self, saying: Saying) -> None:
        """Raise InvalidInput for a format or a voice that it does not have."""

    async def speak(self, saying: Saying) -> Speech: ...


@asynccontextmanager
async def open_synthesiser(
    endpoint: Endpoint | None, voice: str, timeout_s: float
) -> AsyncIterator[Synthesiser | None]:
    """None if there is neither an endpoint nor an engine. A configured service is never replaced by the engine."""
    if endpoint:
        from soulgraph.voices.remote_synthesis import open_remote_synthesiser

        async with open_remote_synthesiser(endpoint) as remote:
            yield _Voiced(remote, voice)
        return
    from soulgraph.voices.espeak import Espeak

    found = shutil.which(ENGINE)
    yield _Voiced(Espeak(found, shutil.which("ffmpeg"), timeout_s), voice) if found else None


async def heard_whole(speech: Speech) -> bytes:
    async with speech as pieces:
        return b"".join([piece async for piece in pieces])


class _Voiced:
    """Says everything in the usual voice that does not name one."""

    def __init__(self, inner: Synthesiser, voice: str) -> None:
        self._inner = inner
        self._voice = voice or DEFAULT_VOICE

    @property
    def name(self) -> str:
        return self._inner.name

    def check(self, saying: Saying) -> None:
        self._inner.check(self._with_voice(saying))

    async def speak(self, saying: Saying) -> Speech:
        return await self._inner.speak(self._with_voice(saying))

    def _with_voice(self, saying: Saying) -> Saying:
        return replace(saying, voice=saying.voice or self._voice)
