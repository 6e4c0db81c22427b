"""Recordings into words by a server of others: OpenAI's `/audio/transcriptions`, or whisper.cpp's `/inference`."""

import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO, Any, Literal

from soulgraph.errors import InvalidInput, NothingHeard
from soulgraph.senses.endpoint import Endpoint
from soulgraph.voices.speech_service import SpeechService, complaint_of, open_service

TextFormat = Literal["json", "text", "srt", "verbose_json", "vtt", "diarized_json"]
_MAX_ANSWER = 4 * 1024 * 1024
_PATH = "/audio/transcriptions"
_ANNOTATION = re.compile(r"\[[^\]]*\]|\([^)]*\)|（[^）]*）|【[^】]*】|\*[^*]*\*|<\|[^|]*\|>")
"""How recognisers write what is no speech: `[BLANK_AUDIO]`, `(wind blowing)`, `*coughs*`."""
_MAX_SPEAKER = 128


@dataclass(frozen=True, slots=True)
class _Answer:
    """Of the server. Some call their JSON text, some their text JSON."""

    body: str
    called_json: bool

    @property
    def object(self) -> dict[str, Any] | None:
        found = self._parsed
        return found if isinstance(found, dict) else None

    @property
    def is_text(self) -> bool:
        if self.called_json or self.body.lstrip()[:1] in ("{", "<"):
            return False
        return self._parsed is None or not isinstance(self._parsed, list | dict)

    @property
    def _parsed(self) -> Any:
        try:
            return json.loads(self.body)
        except ValueError:
            return None

    @property
    def complaint(self) -> str:
        return complaint_of(self.body.encode())


@dataclass(frozen=True, slots=True)
class Recording:
    file: IO[bytes]
    filename: str
    media_type: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said. `speakers` are those whom the server names, each once; empty if it names nobody."""

    text: str
    speakers: tuple[str, ...] = ()
    language: str | None = None

    @property
    def has_words(self) -> bool:
        return bool(re.search(r"\w", _ANNOTATION.sub("", self.text)))


class Recogniser:
    def __init__(self, service: SpeechService) -> None:
        self._service = service
        self._wants_segments = not service.model.startswith("gpt-")

    @property
    def place(self) -> str:
        return self._service.place

    @property
    def model(self) -> str:
        return self._service.model

    async def recognise(self, recording: Recording, language: str | None = None) -> Transcript:
        """The words of a recording and whoever said them; raises NothingHeard if there are none."""
        fields = {"language": language} if language else {}
        transcript = self._read(await self._best_answer(recording, fields))
        if not transcript.has_words:
            raise NothingHeard("no words were heard in the recording: say it again, louder or nearer")
        return transcript

    async def relay(self, recording: Recording, wanted: TextFormat, fields: Mapping[str, Any]) -> str | dict[str, Any]:
        """The server's own answer in the wanted format: an object for the formats of JSON, else a text."""
        answer = await self._ask(recording, {**fields, "response_format": wanted})
        if wanted in ("srt", "vtt"):
            if not answer.is_text:
                raise self._service.failed(f"it did not answer in the format {wanted}: {answer.complaint}")
            return answer.body
        transcript = self._read(answer)
        if wanted == "text":
            return transcript.text + "\n"
        return {**(answer.object or {}), "text": transcript.text}

    async def _best_answer(self, recording: Recording, fields: Mapping[str, Any]) -> _Answer:
        """With its segments, which may name speakers, as long as the server knows that format."""
        if "diarize" in self.model:
            return await self._ask(
                recording, {**fields, "response_format": "diarized_json", "chunking_strategy": "auto"}
            )
        if self._wants_segments:
            try:
                return await self._ask(recording, {**fields, "response_format": "verbose_json"})
            except InvalidInput as error:
                if "format" not in error.detail or "response" not in error.detail:
                    raise
                self._wants_segments = False
        return await self._ask(recording, {**fields, "response_format": "json"})

    async def _ask(self, recording: Recording, fields: Mapping[str, Any]) -> _Answer:
        recording.file.seek(0)
        files = {"file": (recording.filename, recording.file, recording.media_type)}
        url = self._service.url(_PATH, "/inference")
        async with self._service.post(url, data={"model": self.model, **fields}, files=files) as response:
            body = await self._service.body(response, _MAX_ANSWER)
            kind = response.headers.get("content-type", "")
        return _Answer(body.decode("utf-8", "replace"), "json" in kind)

    def _read(self, answer: _Answer) -> Transcript:
        """Raises SpeechError for an answer that is no transcript: older servers tell errors with status 200."""
        if answer.is_text:
            return Transcript(answer.body.strip())
        found = answer.object or {}
        segments = [one for one in found.get("segments") or () if isinstance(one, Mapping)]
        text = found.get("text")
        if text is None and segments:
            text = "".join(str(one.get("text", "")) for one in segments)
        if not isinstance(text, str):
            raise self._service.failed(f"its answer is no transcript: {answer.complaint or 'it is empty'}")
        language = found.get("language")
        return Transcript(text.strip(), _speakers(found, segments), language if isinstance(language, str) else None)


@asynccontextmanager
async def open_recogniser(endpoint: Endpoint | None) -> AsyncIterator[Recogniser | None]:
    """None without an endpoint: there is no engine of our own."""
    if endpoint is None:
        yield None
        return
    async with open_service(endpoint, "SOULGRAPH_STT", "speech recogniser") as service:
        yield Recogniser(service)


def _speakers(found: Mapping[str, Any], segments: list[Mapping[str, Any]]) -> tuple[str, ...]:
    """Each speaker once: those of the segments, else of the words, else of the whole."""
    words = [one for one in found.get("words") or () if isinstance(one, Mapping)]
    for group in (segments, words, [found]):
        if named := tuple(dict.fromkeys(_named(group))):
            return named
    return ()


def _named(things: list[Mapping[str, Any]]) -> Iterator[str]:
    for thing in things:
        speaker = next((thing[name] for name in ("speaker", "speaker_id") if thing.get(name) is not None), None)
        if isinstance(speaker, Mapping):
            speaker = speaker.get("id") or speaker.get("name")
        name = "" if speaker is None or isinstance(speaker, bool | list | dict) else str(speaker).strip()
        if name:
            yield name[:_MAX_SPEAKER]
