"""Streams a chat completion as plain data, over the HTTP client that OpenAI's client was given.

OpenAI's client would make a tree of objects of every chunk, and of every request: most of what a token costs. What it
raises is the same here.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx2
from langchain_core.exceptions import ModelAPIError
from openai import APIConnectionError, APIError, APITimeoutError, AsyncOpenAI, Omit

from soulgraph.compat import http_client_of, openai_status_error
from soulgraph.voices.event_reader import EventReader

_PATH = b"chat/completions"
_END = b"[DONE]"
_END_S = 0.1
"""Within which a server that has said so also ends its response: then the connection can be used again."""


async def stream_chunks(client: AsyncOpenAI, payload: dict[str, Any]) -> AsyncGenerator[dict[str, Any]]:
    """The chunks of the answer. Left early, it hangs up, and the server stops too."""
    request = _request(client, payload)
    with _errors_of(request):
        response = await http_client_of(client).send(request, stream=True)
        try:
            if not response.is_success:
                await response.aread()
                raise openai_status_error(client, response)
            events = EventReader()
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            body = aiter(response.stream)
            async for data in body:
                for event in events.feed(data):
                    if event.startswith(_END):
                        await _drain(body)
                        return
                    yield _chunk_in(event, request)
        finally:
            await response.aclose()


def _request(client: AsyncOpenAI, payload: dict[str, Any]) -> httpx2.Request:
    """The body in wire form; `extra_…` and `timeout` are what OpenAI's client takes beside it."""
    body = {**payload, **(payload.get("extra_body") or {})}
    headers = {**client.default_headers, **client.auth_headers, **(body.pop("extra_headers", None) or {})}
    query = {**client.default_query, **(body.pop("extra_query", None) or {})}
    timeout = body.pop("timeout", client.timeout)
    body.pop("extra_body", None)
    return http_client_of(client).build_request(
        "POST",
        client.base_url.copy_with(raw_path=client.base_url.raw_path + _PATH),
        content=json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(),
        headers={name: value for name, value in headers.items() if not isinstance(value, Omit)},
        params=query or None,
        timeout=timeout,
    )


def _chunk_in(event: bytes, request: httpx2.Request) -> dict[str, Any]:
    chunk = json.loads(event.decode())
    if not isinstance(chunk, dict):
        raise ModelAPIError("the server streams something else than chunks of an answer")
    if error := chunk.get("error"):
        words = error.get("message") if isinstance(error, dict) else None
        raise APIError(words if isinstance(words, str) and words else "an error", request, body=error)
    return chunk


async def _drain(body: AsyncIterator[bytes]) -> None:
    with suppress(TimeoutError, httpx2.RequestError):  # the answer has come: how its response ends is all the same
        async with asyncio.timeout(_END_S):
            async for _ in body:
                pass


@contextmanager
def _errors_of(request: httpx2.Request) -> Iterator[None]:
    try:
        yield
    except httpx2.TimeoutException as error:
        raise APITimeoutError(request=request) from error
    except httpx2.RequestError as error:
        raise APIConnectionError(request=request) from error
