"""`soulgraph mcp`: `/mcp` of a server for programs that speak MCP over standard input and output."""

import asyncio
import json
import sys
import threading
from collections.abc import AsyncIterator, Callable
from http import HTTPStatus
from typing import Any

import httpx

from soulgraph.cli.client import NO_PROXY, address, key_headers
from soulgraph.cli.souls import ServerUrl
from soulgraph.settings import Settings

Json = dict[str, Any]

_TIMEOUT = httpx.Timeout(10, read=60)  # while a soul thinks, the server sends something every 15 s
_ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
_NO_JSON, _FAILED = -32700, -32603
_AGAIN = "start it with `soulgraph serve`, then call again; a talk with the same input_id is not said twice"


def mcp(server: ServerUrl = None) -> None:
    """Offer souls as tools to a program that starts this one, such as Claude Desktop; no MCP client, no use."""
    settings = Settings.load()
    with address(settings, server) as url:
        asyncio.run(serve(url, key_headers(settings), _lines(), _write))


async def serve(url: str, headers: dict[str, str], lines: AsyncIterator[bytes], write: Callable[[Json], None]) -> None:
    """Pass on messages until there are no more, and wait for the answers that are still out."""
    async with httpx.AsyncClient(
        base_url=url, headers=headers | _ACCEPT, timeout=_TIMEOUT, mounts=dict(NO_PROXY)
    ) as http:
        bridge = Bridge(http, write)
        async for line in lines:
            bridge.take(line)
        await bridge.finish()


class Bridge:
    """Each message is a request of its own, so that none waits for another, and a server that comes back is found."""

    def __init__(self, http: httpx.AsyncClient, write: Callable[[Json], None]) -> None:
        self._http = http
        self._write = write
        self._tasks: dict[Any, asyncio.Task[None]] = {}

    def take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            self._write(_error(None, _NO_JSON, "a line must be one message of JSON-RPC 2.0"))
        elif message.get("method") == "notifications/cancelled":
            self._cancel((message.get("params") or {}).get("requestId"))
        else:
            self._begin(message, line)

    def _begin(self, message: Json, line: bytes) -> None:
        key = _key(message.get("id", id(line)))
        task = asyncio.create_task(self._pass_on(message, line), name="mcp message")
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._tasks.pop(key, None))

    def _cancel(self, request_id: Any) -> None:
        """Nobody waits for the answer any more. The soul has heard the words, and what it says to them is kept."""
        if task := self._tasks.get(_key(request_id)):
            task.cancel()

    async def finish(self) -> None:
        if self._tasks:
            await asyncio.wait({*self._tasks.values()})

    async def _pass_on(self, message: Json, line: bytes) -> None:
        answered = False
        why = f"the server at {self._http.base_url} was stopped: {_AGAIN}"
        try:
            async for one in self._answers(line):
                answered = answered or "id" in one
                self._write(one)
        except httpx.TransportError as error:
            why = f"the server at {self._http.base_url} cannot be reached ({_words(error)}): {_AGAIN}"
        except Refused as error:
            why = str(error)
        if not answered and "id" in message and "method" in message:
            self._write(_failed(message, why))

    async def _answers(self, line: bytes) -> AsyncIterator[Json]:
        """Raises Refused for an answer that is no message."""
        async with self._http.stream("POST", "/mcp", content=line) as response:
            if response.status_code == HTTPStatus.ACCEPTED:
                return
            if not response.headers.get("content-type", "").startswith("text/event-stream"):
                yield _message(response.status_code, await response.aread())
                return
            async for text in response.aiter_lines():
                if text.startswith("data: "):
                    yield json.loads(text.removeprefix("data: "))


class Refused(Exception):
    """The server has answered, and the answer is no message of MCP."""


def _message(status: int, body: bytes) -> Json:
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise Refused(f"the server answers HTTP {status}: is the address right?") from error
    if isinstance(answer, dict) and "jsonrpc" in answer:
        return answer
    detail = answer.get("detail", "") if isinstance(answer, dict) else ""
    hint = " (the key is read from SOULGRAPH_API_KEY)" if status == HTTPStatus.UNAUTHORIZED else ""
    raise Refused(f"{detail or f'the server answers HTTP {status}: is the address right?'}{hint}")


def _failed(message: Json, why: str) -> Json:
    """Of a call a result, which models read; of anything else an error."""
    if message["method"] != "tools/call":
        return _error(message["id"], _FAILED, why)
    result = {"content": [{"type": "text", "text": why}], "isError": True}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def _error(request_id: Any, code: int, why: str) -> Json:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": why}}


def _key(request_id: Any) -> str:
    return json.dumps(request_id)


def _words(error: httpx.TransportError) -> str:
    return str(error) or type(error).__name__


async def _lines() -> AsyncIterator[bytes]:
    """What comes in, read in a thread that holds nobody up when the program ends."""
    loop = asyncio.get_running_loop()
    read: asyncio.Queue[bytes] = asyncio.Queue()

    def follow() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(read.put_nowait, line)
        loop.call_soon_threadsafe(read.put_nowait, b"")

    threading.Thread(target=follow, name="mcp stdin", daemon=True).start()
    while line := await read.get():
        yield line


def _write(message: Json) -> None:
    sys.stdout.buffer.write(json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
    sys.stdout.buffer.flush()
