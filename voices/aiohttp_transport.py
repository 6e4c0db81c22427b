"""Sends the requests of an httpx2 client over aiohttp, which reads responses in C: of what a token costs, httpx2's own
transport takes the larger half. The errors are those of httpx2.

OpenAI's client has such a transport, too: it opens 100 connections at most, and takes one that broke for a timeout.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO

import httpx2
from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    ConnectionTimeoutError,
    DummyCookieJar,
    ServerTimeoutError,
    TCPConnector,
)
from yarl import URL

_MAX_HEADER, _MAX_HEADERS = 64 * 1024, 1000
_ERRORS: dict[type[Exception], type[httpx2.RequestError]] = {
    ConnectionTimeoutError: httpx2.ConnectTimeout,
    ServerTimeoutError: httpx2.ReadTimeout,
    TimeoutError: httpx2.WriteTimeout,
    ClientConnectorError: httpx2.ConnectError,
    ClientError: httpx2.RemoteProtocolError,
    ValueError: httpx2.LocalProtocolError,
}
"""The first that fits; the last are for what a server or we say against the protocol."""


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """As many connections as there are requests at once. To be made and closed in the same event loop."""

    def __init__(self) -> None:
        self._session = ClientSession(
            connector=TCPConnector(limit=0, ssl=httpx2.create_ssl_context()),
            cookie_jar=DummyCookieJar(),
            auto_decompress=False,
            skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
            max_line_size=_MAX_HEADER,
            max_field_size=_MAX_HEADER,
            max_headers=_MAX_HEADERS,
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        with _httpx2_errors():
            response = await self._respond(request, request.extensions["timeout"])
        return httpx2.Response(
            response.status,
            headers=response.raw_headers,
            stream=_Body(response),
            extensions={"http_version": b"HTTP/1.1", "reason_phrase": (response.reason or "").encode()},
        )

    async def aclose(self) -> None:
        await self._session.close()

    async def _respond(self, request: httpx2.Request, limits_s: dict[str, float | None]) -> ClientResponse:
        content = await request.aread()
        url = f"{request.url.scheme}://{request.url.netloc.decode()}{request.url.raw_path.decode()}"
        # aiohttp has no limit for writing: what takes longer than all limits together is taken for that.
        async with asyncio.timeout(_sum([limits_s["connect"], limits_s["write"], limits_s["read"]])):
            return await self._session.request(
                request.method,
                URL(url, encoded=True),
                headers=request.headers.multi_items(),
                data=BytesIO(content) if content else None,
                allow_redirects=False,
                timeout=ClientTimeout(sock_connect=limits_s["connect"], sock_read=limits_s["read"]),
            )


class _Body(httpx2.AsyncByteStream):
    def __init__(self, response: ClientResponse) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = self._response.content.readany
        with _httpx2_errors():
            while chunk := await read():
                yield chunk

    async def aclose(self) -> None:
        """The connection can be used again if everything was read; else it is closed."""
        self._response.release()


def _sum(limits_s: Sequence[float | None]) -> float | None:
    return None if None in limits_s else sum(filter(None, limits_s))


@contextmanager
def _httpx2_errors() -> Iterator[None]:
    try:
        yield
    except (ClientError, TimeoutError, ValueError) as error:
        kind = next(kind for known, kind in _ERRORS.items() if isinstance(error, known))
        raise kind(str(error)) from error
