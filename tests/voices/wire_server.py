"""A server that plays what a provider sends: the files in `wire/`, each of which says whether it was recorded."""

import asyncio
import json
from pathlib import Path
from typing import Any

import yaml

from soulgraph.tests.stub_openai import Request, StubOpenAI

FOLDER = Path(__file__).parent / "wire"
PROVIDERS = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def wire_file(provider: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / f"{provider}.yaml").read_text("utf-8"))


class WireServer(StubOpenAI):
    """Answers every chat with the `stream`, or with the `refusal` while a request has the refused parameter."""

    def __init__(self, wire: dict[str, Any], refuses: bool = False, key: str = "") -> None:
        super().__init__()
        self.wire = wire
        self._refuses = refuses
        self._key = key

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}{self.wire['base']}"

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(_response(*self._wire_answer(request)))
        await writer.drain()

    def _wire_answer(self, request: Request) -> tuple[int, str, str]:
        answers = self.wire.get("answers", {})
        self.requests.append(request)
        if self._key and request.headers.get("authorization") != f"Bearer {self._key}":
            return 401, "application/json", '{"error": {"message": "Incorrect API key provided"}}'
        if request.path.endswith("/chat/completions"):
            refusal = self.wire.get("refusal", {})
            if self._refuses and refusal["parameter"] in request.body:
                return refusal["status"], "application/json", json.dumps(refusal["body"])
            return self._chat(request)
        answer = answers.get(f"{request.method} {request.path}")
        return (404, "text/plain", "404 page not found") if answer is None else (200, "application/json", _text(answer))

    def _chat(self, request: Request) -> tuple[int, str, str]:
        if request.body.get("stream"):
            return 200, "text/event-stream", self.wire["stream"]
        return 200, "application/json", _text(self.wire["plain"])

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The bodies of the chats so far."""
        return [request.body for request in self.requests if request.path.endswith("/chat/completions")]


def _text(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)


def _response(status: int, kind: str, text: str) -> bytes:
    body = text.encode()
    head = f"HTTP/1.1 {status} .\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body
