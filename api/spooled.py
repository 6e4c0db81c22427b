"""Files that are too large for the memory, on their way in and out: they lie on disk meanwhile."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from tempfile import SpooledTemporaryFile
from typing import IO

from fastapi import Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from soulgraph.api.transcripts import attachment

_IN_MEMORY = 8 * 1024 * 1024
_CHUNK = 64 * 1024


def spool() -> IO[bytes]:
    """An empty file, in memory as long as it is small; it is gone when it is closed, and when the process is killed."""
    return SpooledTemporaryFile(max_size=_IN_MEMORY)


@asynccontextmanager
async def received(request: Request) -> AsyncIterator[IO[bytes]]:
    """The body of a request as a file."""
    with spool() as file:
        await fill(file, request)
        yield file


async def fill(file: IO[bytes], request: Request) -> None:
    """Write the body of a request to a file, as it comes."""
    async for chunk in request.stream():
        file.write(chunk)
    file.seek(0)


class Download(StreamingResponse):
    """A file that is sent, and closed whatever becomes of the client."""

    def __init__(self, file: IO[bytes], filename: str, media_type: str) -> None:
        headers = {**attachment(filename), "Content-Length": str(file.tell())}
        super().__init__(_chunks(file), media_type=media_type, headers=headers)
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._file:
            await super().__call__(scope, receive, send)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    file.seek(0)
    while chunk := file.read(_CHUNK):
        yield chunk
