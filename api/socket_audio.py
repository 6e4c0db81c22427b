"""Recordings that come over a web socket: the messages around them, and the recording while it comes."""

import time
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from soulgraph.api.chat import ChatRequest
from soulgraph.api.fields import Id, UserId
from soulgraph.api.problems import invalid
from soulgraph.api.spooled import spool
from soulgraph.errors import TooLarge
from soulgraph.stores.factories import new_id
from soulgraph.voices.audio import MEDIA_TYPES, InFormat, OutFormat, check_audio, wav_header
from soulgraph.voices.recognition import Recording
from soulgraph.voices.synthesis import Saying

MAX_BYTES = 25 * 1024 * 1024
MAX_SECONDS = 300
MAX_OPEN_S = 600
_HEAD = 4096
_HEADER = 44
"""Bytes of the header that bare samples get."""


class Speak(BaseModel):
    """How the reply is to be said aloud."""

    model_config = ConfigDict(extra="forbid")

    format: OutFormat = "wav"
    voice: Annotated[str, Field(max_length=200)] = ""
    speed: Annotated[float, Field(ge=0.25, le=4)] = 1.0

    def saying(self, text: str) -> Saying:
        return Saying(text, self.format, self.voice, self.speed)


class BeginAudio(BaseModel):
    """A recording follows, as binary messages. Its other fields are those of the turn."""

    model_config = ConfigDict(extra="forbid")

    type: Literal["audio"]
    action: Literal["begin"]
    format: InFormat = "wav"
    sample_rate: Annotated[int, Field(ge=4000, le=192_000)] = 16_000
    channels: Annotated[int, Field(ge=1, le=2)] = 1
    language: Annotated[str, Field(max_length=40)] | None = None
    speak: Speak | None = None
    input_id: Id = Field(default_factory=lambda: new_id("input"))
    session_id: Id | None = None
    soul_id: Id | None = None
    terminal_id: Id | None = None
    user_id: UserId | None = None
    character_id: Id | None = None
    background_id: Id | None = None
    template_id: Id | None = None

    def turn(self, text: str) -> ChatRequest:
        """Raises InvalidInput for a text that no turn takes, such as one that is too long."""
        names = ("input_id", "session_id", "soul_id", "terminal_id", "user_id", "character_id", "background_id")
        try:
            return ChatRequest(text=text, **{name: getattr(self, name) for name in (*names, "template_id")})
        except ValidationError as error:
            raise invalid(error.errors()) from error


class EndAudio(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["audio"]
    action: Literal["end"]


class CancelAudio(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["audio"]
    action: Literal["cancel"]


AudioMessage = Annotated[BeginAudio | EndAudio | CancelAudio, Field(discriminator="action")]


class IncomingAudio:
    """A recording while it comes. One that has been refused takes what still comes of it, and forgets it."""

    def __init__(self, begin: BeginAudio) -> None:
        self.begin = begin
        self.refused = False
        self._size = 0
        self._until = time.monotonic() + MAX_OPEN_S
        self._file = spool()
        if begin.format == "pcm":
            self._file.write(bytes(_HEADER))

    @classmethod
    def refusing(cls) -> Self:
        """One that was refused before it began."""
        incoming = cls(BeginAudio(type="audio", action="begin"))
        incoming.refused = True
        return incoming

    def write(self, piece: bytes) -> None:
        """Raises TooLarge, once, for what is longer than a recording may be."""
        if self.refused:
            return
        self._size += len(piece)
        if self._size > MAX_BYTES:
            self._refuse(f"a recording may have {MAX_BYTES // 2**20} MiB at most")
        if self._size > self._bytes_per_second * MAX_SECONDS or time.monotonic() > self._until:
            self._refuse(f"a recording may last {MAX_SECONDS} s at most: send shorter ones")
        self._file.write(piece)

    def recording(self) -> Recording:
        """What was recorded, as a file. Raises InvalidInput for one that is empty or not what it is called."""
        begin = self.begin
        start = _HEADER if begin.format == "pcm" else 0
        self._file.seek(start)
        seconds = check_audio(begin.format, self._file.read(_HEAD), self._size, begin.sample_rate, begin.channels)
        if seconds is not None and seconds > MAX_SECONDS:
            raise TooLarge(f"a recording may last {MAX_SECONDS} s at most: send shorter ones")
        if not start:
            return Recording(self._file, f"audio.{begin.format}", MEDIA_TYPES[begin.format])
        self._file.seek(0)
        self._file.write(wav_header(self._size, begin.sample_rate, begin.channels))
        return Recording(self._file, "audio.wav", MEDIA_TYPES["wav"])

    def close(self) -> None:
        self._file.close()

    @property
    def _bytes_per_second(self) -> int:
        """Of bare samples; whatever else it is may be packed, and has no more than the largest samples."""
        begin = self.begin
        return 2 * begin.sample_rate * begin.channels if begin.format == "pcm" else MAX_BYTES

    def _refuse(self, why: str) -> None:
        self.refused = True
        self.close()
        raise TooLarge(why)
