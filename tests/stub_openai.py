"""An OpenAI-compatible model server for tests and benchmarks: real HTTP, scripted replies.

In a test: `async with StubOpenAI() as stub:`, then talk to `stub.base_url`.
As a process: `python tests/stub_openai.py --port 0`, steered over HTTP by `POST /_script` (a list of replies),
`PUT /_default` (one reply), `PUT /_when` (replies by the words they answer), `GET` and `DELETE /_requests`.
"""

import argparse
import asyncio
import base64
import itertools
import json
import math
import struct
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import shake_256
from http.client import responses
from typing import Any, Self

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
SOUL_TURN = "<narrative>I hear you.</narrative><state_update_json>{}</state_update_json>"

_MODEL = {"id": "stub-model", "object": "model", "created": 1_700_000_000, "owned_by": "stub"}
_USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
_ERROR_CODES = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}
# A reply is encoded once and reused; each answer still gets ids of its own, of the same length.
_SERIAL = "@@serial@@"


@dataclass(frozen=True, eq=False)
class Reply:
    """One scripted answer; its JSON form is an object with the same fields.

    A tool call is `{"name": ..., "arguments": ...}`; arguments given as text go out verbatim, broken or not.
    With an error `status`, `text` is the error's message. `garbage` replaces the body, whatever the status.
    `cut_after` counts deltas, the role delta being the first: a cut answer never completes, and 0 closes
    the connection before the first byte. Without `usage` the tokens are not told, asked for or not. The text ends
    before the first of the request's stop words, unless the server is one that `ignores_stop`.
    """

    text: str = ""
    tool_calls: Sequence[Mapping[str, Any]] = ()
    refusal: str = ""
    finish_reason: str | None = None
    chunk_size: int = 5
    delay_s: float = 0
    chunk_delay_s: float = 0
    status: int = 200
    retry_after_s: int | None = None
    cut_after: int | None = None
    hang: bool = False
    garbage: str | None = None
    usage: bool = True
    ignores_stop: bool = False

    @property
    def ending(self) -> str:
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")

    def pieces(self, text: str) -> list[str]:
        return [text[at : at + self.chunk_size] for at in range(0, len(text), self.chunk_size)]

    def functions(self) -> Iterator[dict[str, Any]]:
        """The tool calls as the wire has them."""
        for index, call in enumerate(self.tool_calls):
            raw = call["arguments"]
            function = {"name": call["name"], "arguments": raw if isinstance(raw, str) else json.dumps(raw)}
            yield {"id": f"call_{_SERIAL}_{index}", "type": "function", "function": function}


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


FACTS = b"ExtractedFacts"
"""In requests for facts: the name of the schema."""


class StubOpenAI:
    """The server. `requests` holds the newest 10,000 chat and embedding calls."""

    def __init__(self, default: Reply | None = None, port: int = 0) -> None:
        self.default = default or Reply(text=SOUL_TURN)
        self.embeddings: Reply | None = None  # instead of vectors
        self.requests: deque[Request] = deque(maxlen=10_000)
        self._port = port
        self._queue: deque[Reply] = deque()
        # Facts are asked for in the background, at moments that few tests are about: they use up no script.
        self._when: dict[bytes, Callable[[Any], Reply]] = {FACTS: lambda _: Reply(text='{"facts": []}')}
        self._serials = itertools.count(1)
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        open_connections = dict(self._connections)
        for connection, writer in open_connections.items():
            connection.cancel()
            writer.close()  # one that has not begun yet would not
        await asyncio.gather(*open_connections, return_exceptions=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def script(self, *replies: Reply) -> None:
        """Queue replies for the coming chat requests; once they are used up, `default` answers."""
        self._queue.extend(replies)

    def when(self, words: str, answer: Reply | Callable[[Any], Reply]) -> None:
        """What requests with these (ASCII) words in them get, before script and default; it may depend on the body."""
        self._when[words.encode()] = answer if callable(answer) else lambda _: answer

    def _reply(self, request: Request) -> Reply:
        known = next((answer for words, answer in self._when.items() if words in request.raw), None)
        if known:
            return known(request.body)
        return self._queue.popleft() if self._queue else self.default

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.create_task(self._converse(reader, writer))
        self._connections[connection] = writer
        connection.add_done_callback(self._connections.pop)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            try:
                while True:
                    await self._answer(await _read(reader), writer)
            finally:
                writer.close()
                await writer.wait_closed()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        if self.embeddings and request.path == EMBEDDINGS:
            self.requests.append(request)
            return await _play(writer, self.embeddings, _parts(self.embeddings, {}))
        if (request.method, request.path) != ("POST", CHAT):
            return await _play(writer, Reply(), self._respond(request))
        self.requests.append(request)
        reply = _stopped(self._reply(request), _as_tuple(request.body.get("stop")))
        serial = f"{next(self._serials):0{len(_SERIAL)}d}".encode()
        parts = [part.replace(_SERIAL.encode(), serial) for part in _parts(reply, request.body)]
        return await _play(writer, reply, parts)

    def _respond(self, request: Request) -> Sequence[bytes]:
        try:
            return _whole(200, json.dumps(self._serve(request)))
        except (LookupError, TypeError, ValueError) as error:
            return _error(404 if isinstance(error, LookupError) else 400, str(error))

    def _serve(self, request: Request) -> Any:
        match request.method, request.path:
            case "GET", "/v1/models":
                return {"object": "list", "data": [_MODEL]}
            case "POST", "/v1/embeddings":
                self.requests.append(request)
                return _embeddings(request.body)
            case "POST", "/_script":
                return self.script(*[Reply(**reply) for reply in request.body])
            case "PUT", "/_default":
                return setattr(self, "default", Reply(**request.body))
            case "PUT", "/_when":
                for words, reply in request.body.items():
                    self.when(words, Reply(**reply))
                return None
            case "GET", "/_requests":
                return [{"path": r.path, "headers": r.headers, "body": r.body} for r in self.requests]
            case "DELETE", "/_requests":
                return self.requests.clear()
        raise LookupError(f"no {request.method} {request.path}")


async def _read(reader: asyncio.StreamReader) -> Request:
    start, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    method, path, _ = start.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Request(method, path, headers, await reader.readexactly(int(headers.get("content-length", 0))))


async def _play(writer: asyncio.StreamWriter, reply: Reply, parts: Sequence[bytes]) -> None:
    """Send the parts at the reply's pace; without a pace, in one write."""
    kept = parts if reply.cut_after is None else parts[:-1][: reply.cut_after]
    if reply.hang:
        await asyncio.Event().wait()
    await asyncio.sleep(reply.delay_s)
    for number, part in enumerate(kept if reply.chunk_delay_s else [b"".join(kept)]):
        await asyncio.sleep(reply.chunk_delay_s if number else 0)
        writer.write(part)
        await writer.drain()
    if reply.cut_after is not None:
        raise ConnectionAbortedError


def _as_tuple(stop: Sequence[str] | str | None) -> tuple[str, ...]:
    return (stop,) if isinstance(stop, str) else tuple(stop or ())


@lru_cache(maxsize=32)
def _stopped(reply: Reply, words: tuple[str, ...]) -> Reply:
    """The reply as it is for a request with these stop words."""
    ends = [at for word in words if (at := reply.text.find(word)) >= 0]
    return replace(reply, text=reply.text[: min(ends)]) if ends and not reply.ignores_stop else reply


def _parts(reply: Reply, asked: Mapping[str, Any]) -> Sequence[bytes]:
    """The response in the pieces it goes out in; a streamed one has a piece per delta."""
    stream = asked.get("stream", False)
    if reply.garbage is not None:
        return _whole(reply.status, reply.garbage, "text/event-stream" if stream else "application/json")
    if reply.status != 200:
        return _error(reply.status, reply.text or "scripted failure", reply.retry_after_s)
    if stream:
        return _streamed(reply, reply.usage and bool((asked.get("stream_options") or {}).get("include_usage")))
    return _completed(reply)


@lru_cache(maxsize=32)
def _streamed(reply: Reply, with_usage: bool) -> Sequence[bytes]:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
    events = [_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in _deltas(reply)]
    events.append(_chunk([{"index": 0, "delta": {}, "finish_reason": reply.ending}]))
    if with_usage:
        events.append(_chunk([], usage=_USAGE))
    return head + events[0], *events[1:], b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    yield from ({"content": piece} for piece in reply.pieces(reply.text))
    yield from ({"refusal": piece} for piece in reply.pieces(reply.refusal))
    for index, call in enumerate(reply.functions()):
        name, arguments = call["function"].values()
        yield {"tool_calls": [{"index": index, **call, "function": {"name": name, "arguments": ""}}]}
        for piece in reply.pieces(arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _chunk(choices: list[dict[str, Any]], **more: Any) -> bytes:
    chunk = _envelope("chat.completion.chunk", choices, **more)
    line = f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()
    return b"%x\r\n%b\r\n" % (len(line), line)


@lru_cache(maxsize=32)
def _completed(reply: Reply) -> Sequence[bytes]:
    message = {"role": "assistant", "content": reply.text or None, "refusal": reply.refusal or None}
    calls = {"tool_calls": [*reply.functions()]} if reply.tool_calls else {}
    choice = {"index": 0, "message": message | calls, "finish_reason": reply.ending}
    told = {"usage": _USAGE} if reply.usage else {}
    return _whole(200, json.dumps(_envelope("chat.completion", [choice], **told)))


def _envelope(kind: str, choices: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    stamp = {"id": f"chatcmpl-{_SERIAL}", "created": _MODEL["created"], "model": _MODEL["id"]}
    return {**stamp, "object": kind, "choices": choices, **more}


def _error(status: int, message: str, retry_after_s: int | None = None) -> Sequence[bytes]:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    error = {"message": message, "type": kind, "param": None, "code": _ERROR_CODES.get(status)}
    extra = "" if retry_after_s is None else f"retry-after: {retry_after_s}\r\n"
    return _whole(status, json.dumps({"error": error}), extra=extra)


def _whole(status: int, text: str, kind: str = "application/json", extra: str = "") -> Sequence[bytes]:
    """A response of known length, as its head and its body."""
    body = text.encode()
    head = f"HTTP/1.1 {status} {responses.get(status, '')}\r\ncontent-type: {kind}\r\n{extra}"
    return f"{head}content-length: {len(body)}\r\n\r\n".encode(), body


def _embeddings(asked: Mapping[str, Any]) -> dict[str, Any]:
    texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    vectors = [_vector(json.dumps(text), asked.get("encoding_format") == "base64") for text in texts]
    data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
    return {"object": "list", "data": data, "model": asked["model"], "usage": _USAGE}


def _vector(text: str, packed: bool) -> list[float] | str:
    """The same unit vector of 8 numbers for the same text."""
    values = [byte - 127.5 for byte in shake_256(text.encode()).digest(8)]
    unit = [value / math.hypot(*values) for value in values]
    return base64.b64encode(struct.pack("<8f", *unit)).decode() if packed else unit


async def _run(port: int) -> None:
    async with StubOpenAI(port=port) as stub:
        sys.stdout.write(f"listening {stub.base_url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    with suppress(KeyboardInterrupt):
        asyncio.run(_run(parser.parse_args().port))
