"""A stand-in for an OpenAI-compatible server that keeps what clients send it.

Alone: `python -m soulgraph.tests.clients.recorder --port 8080 --out exchanges.json`.

Without `--upstream` it answers by itself, each time with other words, so that a later request shows which of its
replies the client sends back. With `--upstream` it passes everything on and keeps that server's answers.
"""

import argparse
import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from soulgraph.tests.clients.made_up import MODEL, Chunks, Responses, completion

SECRETS = ("authorization", "api-key", "x-api-key", "cookie")
NOISE = ("host", "content-length", "connection", "accept-encoding", "traceparent", "transfer-encoding", "date")
WORD_PAUSE_S = 0.02
_TASK_ANSWERS = {
    '"follow_ups"': '{"follow_ups": ["And then?", "Tell me more about the harbour."]}',
    '"tags"': '{"tags": ["Life", "Sea"]}',
    '"title"': '{"title": "A walk by the sea"}',
    '"queries"': '{"queries": []}',
}
_REPLIES = (
    "The harbour smells of rain today, and I like that.",
    "I would have waited for you at the lighthouse, you know.",
    "A gull took half of my sandwich, so I am a little cross.",
    "Let us walk slowly; the evening has no hurry either.",
    "You always ask the questions that I keep thinking about.",
    "I have put the kettle on, tell me while it sings.",
    "Nobody has said that to me before, and it is a fine thing.",
    "The tide table says noon, so noon it is.",
)


class Recorder:
    """Keeps every exchange; `exchanges` is what a fixture is made of."""

    def __init__(self, upstream: str = "", pause_s: float = WORD_PAUSE_S) -> None:
        self.exchanges: list[dict[str, Any]] = []
        self._upstream = upstream.rstrip("/")
        self.pause_s = pause_s
        self._spoken = 0
        self._step = ""
        routes = [
            Route("/_recorder/step", self._name_step, methods=["POST"]),
            Route("/_recorder/exchanges", self._show, methods=["GET", "DELETE"]),
            Route("/{path:path}", self._answer, methods=["GET", "POST"]),
        ]
        self.app = Starlette(routes=routes)

    def step(self, name: str) -> None:
        """Whatever comes from now on belongs to this step of the scenario."""
        self._step = name

    async def _name_step(self, request: Request) -> Response:
        self.step((await request.json())["step"])
        return Response(status_code=204)

    async def _show(self, request: Request) -> Response:
        kept = list(self.exchanges)
        if request.method == "DELETE":
            self.exchanges.clear()
        return JSONResponse(kept)

    async def _answer(self, request: Request) -> Response:
        raw = await request.body()
        body = json.loads(raw) if raw else None
        exchange = _exchange(self._step, request, body)
        self.exchanges.append(exchange)
        if self._upstream:
            return await self._pass_on(request, raw, exchange)
        if request.method == "GET":
            return JSONResponse({"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "you"}]})
        return self._make_up(body or {}, exchange)

    def _make_up(self, body: dict[str, Any], exchange: dict[str, Any]) -> Response:
        words = self._words_for(body)
        reply = exchange["reply"] = {"status": 200, "text": words, "whole": not body.get("stream")}
        if not body.get("stream"):
            return JSONResponse(completion(words, body))
        return StreamingResponse(self._stream(words, reply, body), media_type="text/event-stream")

    def _words_for(self, body: dict[str, Any]) -> str:
        asked = json.dumps(body.get("messages", ""), ensure_ascii=False).replace('\\"', '"')
        if not body.get("stream"):
            for key, answer in _TASK_ANSWERS.items():
                if f"{{ {key}" in asked or f"{{{key}" in asked:
                    return answer
        self._spoken += 1
        return _REPLIES[(self._spoken - 1) % len(_REPLIES)]

    async def _stream(self, words: str, reply: dict[str, Any], body: dict[str, Any]) -> AsyncIterator[str]:
        """The words one by one; `text` is what was sent until the client went away."""
        form = Responses(words) if "input" in body else Chunks(body)
        reply["text"] = ""
        try:
            yield form.beginning()
            for word in words.split(" "):
                piece = f" {word}" if reply["text"] else word
                yield form.piece(piece)
                reply["text"] += piece
                await asyncio.sleep(self.pause_s)
            reply["whole"] = True
            yield form.ending()
        finally:
            reply.setdefault("whole", False)

    async def _pass_on(self, request: Request, raw: bytes, exchange: dict[str, Any]) -> Response:
        client = httpx.AsyncClient(timeout=120, verify=False)
        headers = {name: value for name, value in request.headers.items() if name not in NOISE}
        url = f"{self._upstream}/{request.path_params['path']}"
        asked = client.build_request(request.method, url, content=raw, headers=headers, params=request.query_params)
        answer = await client.send(asked, stream=True)
        reply = exchange["reply"] = {"status": answer.status_code, "text": "", "whole": False}

        async def relayed() -> AsyncIterator[bytes]:
            try:
                async for piece in answer.aiter_bytes():
                    reply["text"] += piece.decode("utf-8", "replace")
                    yield piece
                reply["whole"] = True
            finally:
                await answer.aclose()
                await client.aclose()

        kept = {name: value for name, value in answer.headers.items() if name not in (*NOISE, "content-encoding")}
        reply["headers"] = kept
        return StreamingResponse(relayed(), answer.status_code, kept)


def _exchange(step: str, request: Request, body: Any) -> dict[str, Any]:
    headers = {name: value for name, value in request.headers.items() if name not in NOISE}
    for name in SECRETS:
        if name in headers:
            headers[name] = "…"
    sent = {"method": request.method, "path": request.url.path, "headers": headers, "body": body}
    return {"step": step, "request": sent}


@asynccontextmanager
async def recording(port: int, upstream: str = "", pause_s: float = WORD_PAUSE_S) -> AsyncIterator[Recorder]:
    """A recorder on a port of this machine."""
    recorder = Recorder(upstream, pause_s)
    server = uvicorn.Server(uvicorn.Config(recorder.app, port=port, log_level="warning"))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    try:
        yield recorder
    finally:
        server.should_exit = True
        await running


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream", default="", help="pass everything on to this server")
    parser.add_argument("--out", type=Path, required=True, help="where the exchanges are kept at the end")
    given = parser.parse_args()
    async with recording(given.port, given.upstream) as recorder:
        try:
            await asyncio.Event().wait()
        finally:
            given.out.write_text(json.dumps(recorder.exchanges, ensure_ascii=False, indent=2), "utf-8")


if __name__ == "__main__":
    asyncio.run(_main())
