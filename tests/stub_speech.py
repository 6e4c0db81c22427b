"""A speech service for tests: real HTTP in the forms of OpenAI and whisper.cpp, scripted answers.

`async with StubSpeech() as stub:`, then talk to `stub.base_url`. It recognises what it is told to, and only in a
WAV that is one and in which something can be heard; anything else it refuses as such servers do.
"""

import asyncio
import json
import wave
from contextlib import suppress
from dataclasses import dataclass, field

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from soulgraph.tests.voices.audio_samples import loudness, opened, wav


@dataclass
class Answer:
    """A scripted answer; without one it does as a good server would."""

    status: int = 200
    json: object = None
    body: str | bytes | None = None
    type: str = "application/json"
    headers: dict = field(default_factory=dict)
    delay_s: float = 0
    refuses: tuple = ()
    """Names of fields for which it answers 400."""
    breaks_off: bool = False

    def response(self):
        content = json.dumps(self.json, ensure_ascii=False) if self.body is None else self.body
        return Response(content, self.status, self.headers, self.type)


@dataclass(frozen=True)
class Asked:
    path: str
    fields: dict
    audio: bytes = b""
    filename: str = ""
    key: str = ""


class StubSpeech:
    def __init__(self):
        self.asked = []
        self.text = "hello"
        self.speaker = None
        self.scripted = None
        self._texts = {}

    async def __aenter__(self):
        routes = [
            Route("/v1/audio/transcriptions", self.transcribe, methods=["POST"]),
            Route("/inference", self.transcribe, methods=["POST"]),
            Route("/v1/audio/speech", self.speak, methods=["POST"]),
        ]
        app = Starlette(routes=routes)
        self._server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="critical", lifespan="off"))
        self._running = asyncio.create_task(self._server.serve())
        while not self._server.started:
            await asyncio.sleep(0.01)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self._server.should_exit = self._server.force_exit = True
        with suppress(asyncio.CancelledError):
            await self._running

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def knows(self, audio, text):
        """It recognises this text in samples that are like those of this WAV."""
        self._texts[opened(audio)[2].tobytes()] = text

    async def transcribe(self, request: Request):
        async with request.form() as form:
            audio = await form["file"].read()
            filename = form["file"].filename
            fields = {name: value for name, value in form.multi_items() if name != "file"}
        self._note(request, fields, audio, filename)
        if self.scripted:
            return await self._play(self.scripted, fields)
        try:
            _, _, samples = opened(audio)
        except (AssertionError, EOFError, wave.Error) as error:
            return JSONResponse({"error": {"message": f"Invalid file format: {error}"}}, 400)
        if not len(samples) or loudness(samples) < 50:
            return JSONResponse({"text": " [BLANK_AUDIO]\n"})
        text = self._texts.get(samples.tobytes(), self.text)
        wanted = fields.get("response_format", "json")
        if wanted == "text":
            return Response(f"{text}\n", media_type="text/plain")
        if wanted in ("srt", "vtt"):
            return Response(f"1\n00:00:00,000 --> 00:00:01,000\n{text}\n", media_type="text/plain")
        if wanted == "json":
            return JSONResponse({"text": text})
        segment = {"id": 0, "start": 0.0, "end": 1.0, "text": text} | (
            {"speaker": self.speaker} if self.speaker else {}
        )
        return JSONResponse(
            {"task": "transcribe", "language": "en", "duration": 1.0, "text": text, "segments": [segment]}
        )

    async def speak(self, request: Request):
        fields = await request.json()
        self._note(request, fields)
        if self.scripted:
            return await self._play(self.scripted, fields)
        seconds = 0.05 * len(fields["input"])
        return StreamingResponse(self._pieces(wav(24000, seconds)), media_type="audio/wav")

    async def _pieces(self, content):
        for start in range(0, len(content), 4096):
            yield content[start : start + 4096]
            await asyncio.sleep(0)

    async def _play(self, answer, fields):
        if answer.delay_s:
            await asyncio.sleep(answer.delay_s)
        refused = [name for name in answer.refuses if name in fields or fields.get("response_format") == name]
        if refused:
            told = f"Unsupported value: 'response_format' or parameter {refused[0]}"
            return JSONResponse({"error": {"message": told, "param": refused[0]}}, 400)
        if answer.refuses:
            return JSONResponse({"text": self.text}) if "input" not in fields else Response(wav(24000, 0.5), 200)
        if answer.breaks_off:
            return StreamingResponse(self._broken(), media_type="audio/wav")
        return answer.response()

    async def _broken(self):
        yield wav(24000, 0.5)[:2000]
        raise RuntimeError("broken off")

    def _note(self, request, fields, audio=b"", filename=""):
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.asked.append(Asked(request.url.path, fields, audio, filename, key))
