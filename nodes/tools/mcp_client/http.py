"""An MCP server over HTTP. What fails is made an answer of the protocol: one failure must not end all calls under way,
and who waits for an answer that was lost must not wait in vain."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import httpx

from soulgraph.nodes.tools.mcp_client.failures import BUSY, LOST, NOT_DELIVERED, REFUSED
from soulgraph.nodes.tools.mcp_client.wire import Ending, Wire, relayed

_SPOKEN = ("application/json", "text/event-stream")
_GOODBYE_S = 2.0
_GRACE_S = 2.0
"""Each call has a request of its own, which may be answered although the stream beside them has broken off."""
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)
_BYGONE = (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND)
_SESSION = "mcp-session-id"


class McpHttp(httpx.AsyncClient):
    def __init__(self, tell: Callable[[str], None], **options: Any) -> None:
        super().__init__(**options)
        self._tell = tell

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """The response, or in its place an error of the protocol."""
        if request.method == "DELETE":
            request.extensions["timeout"] = httpx.Timeout(_GOODBYE_S).as_dict()
        try:
            response = await super().send(request, **options)
        except httpx.TransportError as error:
            return self._unanswered(request, error)
        if request.method == "GET" and response.status_code == HTTPStatus.NOT_FOUND:
            self._tell("it knows no such session any more")
        return await self._checked(request, response) if request.method == "POST" else response

    def _unanswered(self, request: httpx.Request, error: httpx.TransportError) -> httpx.Response:
        why = str(error) or type(error).__name__
        if request.method == "DELETE":
            return httpx.Response(HTTPStatus.NO_CONTENT, request=request)
        if request.method == "GET":
            self._tell(f"it cannot be reached: {why}")
            raise error
        never_sent = isinstance(error, _NEVER_SENT)
        return _told(request, NOT_DELIVERED if never_sent else LOST, f"it cannot be reached: {why}")

    async def _checked(self, request: httpx.Request, response: httpx.Response) -> httpx.Response:
        status = response.status_code
        if status >= HTTPStatus.BAD_REQUEST:
            await response.aclose()
            return self._refused(request, status)
        kind = response.headers.get("content-type", "").lower()
        if status != HTTPStatus.OK or _id_of(request) is None:
            return response
        if not kind.startswith(_SPOKEN):
            await response.aclose()
            why = f"it answers {kind.partition(';')[0] or 'nothing'}, which is no MCP: is the URL right?"
            return _told(request, LOST, why)
        return await self._whole(request, response, kind)

    async def _whole(self, request: httpx.Request, response: httpx.Response, kind: str) -> httpx.Response:
        if kind.startswith("text/event-stream"):
            assert isinstance(response.stream, httpx.AsyncByteStream)
            response.stream = Whole(response.stream, _event(request, LOST, "the connection broke off"))
            return response
        try:
            await response.aread()
        except httpx.TransportError as error:
            return _told(request, LOST, f"the connection broke off: {error}")
        return response

    def _refused(self, request: httpx.Request, status: int) -> httpx.Response:
        """A server that has been restarted knows no session of before, and says so in one of two ways."""
        why = f"it answers HTTP {status} {_phrase(status)}".rstrip()
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return _told(request, BUSY, why)
        if status in _BYGONE and _SESSION in request.headers:
            return _told(request, NOT_DELIVERED, why)
        return _told(request, LOST if status >= HTTPStatus.INTERNAL_SERVER_ERROR else REFUSED, why)


class Whole(httpx.AsyncByteStream):
    """A stream of events that tells when it breaks off. One that can be taken up again is left to whoever does that."""

    def __init__(self, stream: httpx.AsyncByteStream, broken_off: bytes) -> None:
        self._stream = stream
        self._broken_off = broken_off

    async def __aiter__(self) -> AsyncIterator[bytes]:
        resumable = False
        try:
            async for chunk in self._stream:
                resumable = resumable or chunk.startswith(b"id:") or b"\nid:" in chunk
                yield chunk
        except httpx.TransportError:
            if resumable:
                raise
        if not resumable:
            yield self._broken_off

    async def aclose(self) -> None:
        await self._stream.aclose()


def _id_of(request: httpx.Request) -> Any:
    """Of a message that wants an answer, or None."""
    message = json.loads(request.content)
    return message.get("id") if "method" in message else None


def _error(request: httpx.Request, code: int, why: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": _id_of(request), "error": {"code": code, "message": why}}


def _told(request: httpx.Request, code: int, why: str) -> httpx.Response:
    if _id_of(request) is None:
        return httpx.Response(HTTPStatus.ACCEPTED, request=request)
    return httpx.Response(HTTPStatus.OK, json=_error(request, code, why), request=request)


def _event(request: httpx.Request, code: int, why: str) -> bytes:
    return f"\n\nevent: message\ndata: {json.dumps(_error(request, code, why))}\n\n".encode()


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


@asynccontextmanager
async def http_wire(url: str, headers: dict[str, str], timeouts: tuple[float, float]) -> AsyncIterator[Wire]:
    from mcp.client.streamable_http import streamable_http_client

    ending = Ending()
    timeout = httpx.Timeout(timeouts[0], read=timeouts[1])
    async with (
        McpHttp(ending.tell, headers=headers, timeout=timeout) as client,
        streamable_http_client(url, http_client=client) as (read, write, _),
        relayed(read, write, ending, _GRACE_S) as wire,
    ):
        yield wire
