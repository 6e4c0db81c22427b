"""How an MCP server is reached: a pair of streams over stdio, HTTP, SSE or a web socket, and when it is over."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple

import anyio

from soulgraph.nodes.tools.mcp_client.failures import ServerFailure, with_variables

_HTTP = ("http", "streamable_http", "streamable-http", "streamableHttp")
_TIMEOUT_S = 30.0
_READ_TIMEOUT_S = 300.0


class Ending:
    """When a connection is over, and why: the first reason counts."""

    def __init__(self) -> None:
        self.come = asyncio.Event()
        self.reason = ""

    def tell(self, reason: str) -> None:
        if not self.come.is_set():
            self.reason = reason
            self.come.set()


class Wire(NamedTuple):
    """The streams that a session of `mcp` takes."""

    read: Any
    write: Any
    ending: Ending
    last_words: Callable[[], str] = str
    """What its process has said beside the protocol."""
    is_alive: Callable[[], bool] = lambda: True
    """Whether it could still take a call, as far as that can be seen from here."""
    grace_s: float = 0.05
    """How long calls under way may still be answered after the end: what ended it may have told the session too."""


def reach(server: Mapping[str, Any]) -> AbstractAsyncContextManager[Wire]:
    """Raises ServerFailure for a server of which the settings do not say how it is reached."""
    transport = server.get("transport")
    if transport == "stdio":
        from soulgraph.nodes.tools.mcp_client.stdio import stdio_wire

        return stdio_wire(server)
    if transport in _HTTP:
        from soulgraph.nodes.tools.mcp_client.http import http_wire

        return http_wire(_url(server), headers_of(server), timeouts_of(server))
    if transport == "sse":
        return _sse_wire(server)
    if transport in ("websocket", "ws"):
        return _websocket_wire(server)
    raise ServerFailure(f"there is no transport {transport!r}: use stdio, http, sse or websocket")


def _url(server: Mapping[str, Any]) -> str:
    url = server.get("url")
    if not isinstance(url, str) or not url.startswith(("http://", "https://", "ws://", "wss://")):
        raise ServerFailure("name its `url`, with http:// or https://, or the `command` that starts it")
    return url


def headers_of(server: Mapping[str, Any]) -> dict[str, str]:
    headers = server.get("headers") or {}
    if not isinstance(headers, Mapping):
        raise ServerFailure("`headers` must map names to values")
    return with_variables(headers)


def timeouts_of(server: Mapping[str, Any]) -> tuple[float, float]:
    """For whatever a request needs, and for the silence of an answer."""
    try:
        return float(server.get("timeout", _TIMEOUT_S)), float(server.get("sse_read_timeout", _READ_TIMEOUT_S))
    except (TypeError, ValueError) as error:
        raise ServerFailure("`timeout` and `sse_read_timeout` must be seconds") from error


@asynccontextmanager
async def _sse_wire(server: Mapping[str, Any]) -> AsyncIterator[Wire]:
    from mcp.client.sse import sse_client

    async with (
        sse_client(_url(server), headers_of(server), *timeouts_of(server)) as (read, write),
        relayed(read, write, Ending()) as wire,
    ):
        yield wire


@asynccontextmanager
async def _websocket_wire(server: Mapping[str, Any]) -> AsyncIterator[Wire]:
    from mcp.client.websocket import websocket_client

    async with websocket_client(_url(server)) as (read, write), relayed(read, write, Ending()) as wire:
        yield wire


@asynccontextmanager
async def relayed(read: Any, write: Any, ending: Ending, grace_s: float = 0.05) -> AsyncIterator[Wire]:
    """The wire of streams that tell nobody when they end: it is noticed here."""
    told, heard = anyio.create_memory_object_stream[Any](0)

    async def relay() -> None:
        async with told:
            async for message in read:
                if isinstance(message, Exception):
                    ending.tell(f"it answers what is no message of MCP: {str(message) or type(message).__name__}")
                    return
                await told.send(message)
        ending.tell("it has closed the connection")

    relaying = asyncio.create_task(relay(), name="mcp relay")
    try:
        with heard:
            yield Wire(heard, write, ending, grace_s=grace_s)
    finally:
        relaying.cancel()
        await asyncio.wait({relaying})
        told.close()
        read.close()
        if not relaying.cancelled():
            relaying.exception()  # its streams were closed under it, which is how it ends
