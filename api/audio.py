"""Speech for OpenAI's clients: recordings into text, and text into speech in the voice of a soul's mood."""

import base64
import json
from collections.abc import AsyncIterator
from pathlib import PurePath
from typing import Annotated, Any, Literal, Self, get_args

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.sse import format_sse_event
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from soulgraph.api.auth import Speaker
from soulgraph.api.disconnects import unless_gone
from soulgraph.api.emotion import present_state
from soulgraph.api.fields import ModelName
from soulgraph.api.media import SSE, binary, either, sent, text
from soulgraph.api.openai_turns import SOUL, find_soul
from soulgraph.api.problems import invalid
from soulgraph.api.raising import HEARING, SEVERAL_SOULS, SPEAKING, not_found, raises
from soulgraph.api.services import Served, Services
from soulgraph.errors import InvalidInput
from soulgraph.soul.prosody import manner_of
from soulgraph.soul.validation import NOT_BLANK, NUMBER, STORABLE_TEXT
from soulgraph.stores.records import Soul
from soulgraph.voices.audio import MEDIA_TYPES, OutFormat
from soulgraph.voices.recognition import Recording, TextFormat
from soulgraph.voices.synthesis import MAX_TEXT, Saying, Speech

router = APIRouter(prefix="/v1/audio", tags=["OpenAI"])


_TRANSCRIPT = text("text/plain", "with `response_format` text, srt or vtt", "今天被老板骂了，好难过\n")
_AUDIO = either(
    binary(*sorted({MEDIA_TYPES[kind] for kind in ("mp3", "opus", "aac", "flac", "wav", "pcm")})),
    text(SSE, "with `stream_format` sse", 'data: {"type": "speech.audio.delta", "audio": "UklGRg=="}\n\n'),
)


class TranscriptOut(BaseModel):
    """The recogniser's own answer; with `verbose_json` and `diarized_json` it has more."""

    model_config = ConfigDict(extra="allow")

    text: str


class CustomVoice(BaseModel):
    id: str = Field(max_length=200)


def _known_as(voice: str | CustomVoice) -> str | CustomVoice:
    if isinstance(voice, str) and len(voice) > 200:
        raise ValueError("a voice's name has 200 characters at most")
    return voice


class SpeechRequest(BaseModel):
    """The fields of a request that are read; others are ignored."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"model": "soul:小满", "input": "我在这里。", "response_format": "wav"}]}
    )

    model: ModelName = Field(description="`soul:` and the name or id of a soul: in the voice of its mood; else neutral")
    input: Annotated[str, StringConstraints(min_length=1, max_length=MAX_TEXT), NOT_BLANK, STORABLE_TEXT]
    voice: Annotated[str | CustomVoice | None, AfterValidator(lambda voice: voice and _known_as(voice))] = None
    response_format: OutFormat = "mp3"
    speed: Annotated[float, Field(ge=0.25, le=4), NUMBER] = 1.0
    instructions: Annotated[str, StringConstraints(max_length=MAX_TEXT), STORABLE_TEXT] | None = None
    stream_format: Literal["audio", "sse"] | None = None

    def saying(self) -> Saying:
        voice = self.voice.id if isinstance(self.voice, CustomVoice) else self.voice or ""
        return Saying(self.input, self.response_format, voice, self.speed, instructions=self.instructions or "")


class TranscriptionFields(BaseModel):
    """What a form has beside the file. `model` is not read: the configured one is used; neither is `stream`."""

    model: Annotated[str, Field(max_length=300)] = ""
    language: Annotated[str, Field(max_length=40)] | None = None
    prompt: Annotated[str, Field(max_length=MAX_TEXT)] | None = None
    response_format: TextFormat = "json"
    temperature: Annotated[float, Field(ge=0, le=1)] | None = None
    granularities: list[Literal["word", "segment"]] | None = None

    @classmethod
    def read(cls, form: FormData) -> Self:
        """Raises InvalidInput; an empty field is as good as none."""
        given = {name: value for name, value in form.items() if value != "" and name in cls.model_fields}
        if chosen := form.getlist("timestamp_granularities[]"):
            given["granularities"] = chosen  # type: ignore[assignment]
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise invalid([{**flaw, "loc": ("body", *flaw["loc"])} for flaw in error.errors()]) from error

    def sent(self) -> dict[str, Any]:
        """The fields that the recogniser gets."""
        given = self.model_dump(exclude_none=True, include={"language", "prompt", "temperature"})
        return given | ({"timestamp_granularities[]": self.granularities} if self.granularities else {})


_FORM = {
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": ["file"],
                "properties": {
                    "file": {"type": "string", "format": "binary", "description": "a recording, at most 25 MiB"},
                    "model": {"type": "string", "description": "not used: the configured one is"},
                    "language": {"type": "string", "maxLength": 40},
                    "prompt": {"type": "string", "maxLength": MAX_TEXT},
                    "response_format": {"type": "string", "enum": [*get_args(TextFormat)], "default": "json"},
                    "temperature": {"type": "number", "minimum": 0, "maximum": 1},
                },
            }
        }
    }
}


@router.post("/transcriptions", response_model=TranscriptOut, responses={200: _TRANSCRIPT}, openapi_extra=sent(_FORM))
@raises(*HEARING)
async def transcribe(request: Request, caller: Speaker, services: Served) -> Response:
    """Turn a recording into text by the configured recogniser. It is not kept, and no soul hears it."""
    recogniser = services.speech.hearing
    form = await _form_of(request)
    try:
        fields = TranscriptionFields.read(form)
        work = recogniser.relay(_recording(form.get("file")), fields.response_format, fields.sent())
        answer = await unless_gone(request, work)
    finally:
        await form.close()
    if isinstance(answer, Response):
        return answer
    return PlainTextResponse(answer) if isinstance(answer, str) else JSONResponse(answer)


async def _form_of(request: Request) -> FormData:
    """A large file in it lies on disk meanwhile."""
    try:
        return await request.form(max_files=2, max_fields=40)
    except HTTPException as error:
        raise InvalidInput(f"body: this is no form that can be read: {error.detail}") from error


def _recording(file: UploadFile | str | None) -> Recording:
    if not isinstance(file, UploadFile):
        raise InvalidInput("file: send the recording in a form, as multipart/form-data")
    if not file.size:
        raise InvalidInput("file: nothing is in it: send a recording")
    name = PurePath(file.filename or "").name[-100:] or "audio.wav"
    return Recording(file.file, name, file.content_type or "application/octet-stream")


@router.post("/speech", response_class=StreamingResponse, responses={200: _AUDIO})
@raises(*SPEAKING, *not_found("model"), SEVERAL_SOULS)
async def speak(wanted: SpeechRequest, request: Request, caller: Speaker, services: Served) -> Response:
    """Say a text. If the model is a soul, its present mood shapes rate, pitch and volume; nothing is told to it."""
    synthesiser = services.speech.speaking
    saying = wanted.saying()
    if wanted.model.startswith(SOUL):
        soul = await find_soul(wanted.model, caller, services)
        saying = in_mood(saying, soul, services)
    speech = await unless_gone(request, synthesiser.speak(saying))
    if isinstance(speech, Response):
        return speech
    if wanted.stream_format == "sse":
        return _Spoken(speech, _events, SSE)
    return _Spoken(speech, _as_it_is, MEDIA_TYPES[wanted.response_format])


def in_mood(saying: Saying, soul: Soul, services: Services) -> Saying:
    """As the soul would say it now."""
    return saying.in_manner(*manner_of(present_state(soul, services), saying.text, services.context.constants))


class _Spoken(StreamingResponse):
    """Speech that is sent, and let go of whatever becomes of the client."""

    def __init__(self, speech: Speech, encode: Any, media_type: str) -> None:
        super().__init__(encode(speech.pieces), media_type=media_type, headers={"Cache-Control": "no-store"})
        self._speech = speech

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._speech:
            await super().__call__(scope, receive, send)


async def _as_it_is(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        yield piece


async def _events(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for piece in pieces:
        yield _event("speech.audio.delta", audio=base64.b64encode(piece).decode())
    yield _event("speech.audio.done", usage={"input_tokens": 0, "output_tokens": 0, "total_tokens": 0})


def _event(kind: str, **fields: Any) -> bytes:
    return format_sse_event(data_str=json.dumps({"type": kind, **fields}))
