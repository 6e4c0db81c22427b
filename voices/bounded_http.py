"""How many bytes of a model server's response are read: what is larger does not end, whatever it is."""

import asyncio
from collections.abc import AsyncIterator

import httpx2

from soulgraph.errors import AnswerTooLong, ModelUnavailable

_MEBIBYTE = 2**20
MAX_BODY = 4 * _MEBIBYTE
"""Of a plain answer, and of one event of a streamed one: it is read in one go, and nothing else is done meanwhile."""
MAX_STREAM = 32 * _MEBIBYTE
"""Of a streamed answer: 100,000 tokens, in as many events of 300 bytes."""
_SLICE = 8192
"""Bytes after which others have their turn: hundreds of events may come at once."""
HEADERS = {"Accept-Encoding": "identity"}
"""What is packed may be a thousand times larger than its bytes tell."""


async def bound(response: httpx2.Response) -> None:
    """A response hook of the client. It is no transport, with which the client would ignore the system's proxies."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ModelUnavailable("the model's server packs its answers although it was asked not to", reason="failed")
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _BoundedStream(response.stream, MAX_STREAM if is_stream else MAX_BODY)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = line = 0
        async for chunk in self._stream:
            size += len(chunk)
            end = chunk.rfind(b"\n")
            line = len(chunk) - end - 1 if end >= 0 else line + len(chunk)
            if size > self._limit or line > MAX_BODY:
                raise AnswerTooLong(f"the model's answer does not end: {size // _MEBIBYTE} MiB of it were read")
            yield chunk[:_SLICE]
            for start in range(_SLICE, len(chunk), _SLICE):
                await asyncio.sleep(0)
                yield chunk[start : start + _SLICE]

    async def aclose(self) -> None:
        await self._stream.aclose()
