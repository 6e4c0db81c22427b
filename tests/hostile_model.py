"""A model server that sends what no model should, byte for byte, and then hangs up."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import yaml

from soulgraph.tests.stub_openai import Request, StubOpenAI

_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
_WHOLE = {"choices", "usage", "error"}


def cases(file: Path) -> list[dict[str, Any]]:
    return list(yaml.load(file.read_text("utf-8"), yaml.CSafeLoader))


def pieces_of(case: dict[str, Any]) -> Iterator[bytes]:
    """The bytes of a case: its chunks, with one of them repeated before the place that it names."""
    again = case.get("repeat")
    at = again["at"] if again else len(case["chunks"])
    yield from map(encoded, case["chunks"][:at])
    if again:
        yield from repeat(encoded(again["chunk"]), again["times"])
    yield from map(encoded, case["chunks"][at:])


def encoded(chunk: Any) -> bytes:
    """A text as it is, bytes by their digits, a whole chunk, or a delta that is wrapped into one."""
    if isinstance(chunk, str):
        return chunk.encode()
    if "hex" in chunk:
        return bytes.fromhex(chunk["hex"])
    if not _WHOLE & chunk.keys():
        chunk = {"choices": [{"index": 0, "delta": chunk, "finish_reason": None}]}
    return f"data: {json.dumps(chunk)}\n\n".encode()


def endless(*chunks: Any) -> Iterator[bytes]:
    """The first chunks once, then the last one forever."""
    return chain(map(encoded, chunks[:-1]), repeat(encoded(chunks[-1])))


class HostileModel(StubOpenAI):
    """While `pieces` is set, every streamed chat gets them; `refused` once a client has hung up before their end."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: Iterable[bytes] | None = None
        self.refused = asyncio.Event()

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> None:
        is_chat = request.path.endswith("/chat/completions")
        if self.pieces is None or not is_chat or not request.body.get("stream"):
            return await super()._answer(request, writer)
        self.requests.append(request)
        writer.write(_HEAD)
        try:
            for piece in self.pieces:
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            self.refused.set()
            raise
        raise ConnectionAbortedError
