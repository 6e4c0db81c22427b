"""Passes requests on to the language model's server as they are, for what is said to no soul."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic_core import from_json

from soulgraph.errors import InvalidInput, ModelRefused, ModelTimeout, ModelUnavailable
from soulgraph.senses.endpoint import Endpoint
from soulgraph.stores.records import Json

_OPENAI = "https://api.openai.com/v1"
_CONNECT_S = 10.0
_MAX_BYTES = 8 * 1024 * 1024
_MAX_QUOTED = 300
_REFUSED_KEY = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
_BUSY = httpx.codes.TOO_MANY_REQUESTS


@dataclass(frozen=True, slots=True)
class Relayed:
    """An answer of the server, which is read while it arrives. Closing it ends the request."""

    content_type: str
    chunks: AsyncIterator[bytes]
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def aclose(self) -> None:
        await self._open.aclose()


class Relay:
    """One client for all requests: a new one each would take longer than the first word of an answer."""

    def __init__(self, endpoint: Endpoint, client: httpx.AsyncClient) -> None:
        self._endpoint = endpoint
        self._client = client

    @classmethod
    @asynccontextmanager
    async def open(cls, endpoint: Endpoint | None) -> "AsyncIterator[Relay | None]":
        """None without a language model."""
        if endpoint is None:
            yield None
            return
        headers = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        timeout = httpx.Timeout(endpoint.timeout_s, connect=_CONNECT_S)
        async with httpx.AsyncClient(headers=headers, timeout=timeout) as client:
            yield cls(endpoint, client)

    async def whole(self, body: Mapping[str, Any]) -> Json:
        """The answer to a request that is not streamed. Raises as `stream`, and ModelRefused for what is no answer."""
        async with aclosing(await self.stream({**body, "stream": False})) as answer:
            content = b"".join([chunk async for chunk in _limited(answer.chunks)])
        try:
            found = from_json(content)
        except ValueError as error:
            raise ModelRefused("the model's server answered with no JSON", reason="unreadable") from error
        if not isinstance(found, dict) or not isinstance(found.get("choices"), list):
            raise ModelRefused("the model's server answered without choices", reason="unreadable")
        return found

    async def stream(self, body: Mapping[str, Any]) -> Relayed:
        """Raises ModelUnavailable, ModelTimeout, ModelRefused if it is our key that is refused, and InvalidInput for
        what the server refuses of the request."""
        url = f"{(self._endpoint.base_url or _OPENAI).rstrip('/')}/chat/completions"
        request = self._client.build_request("POST", url, json={**body, "model": self._endpoint.model})
        async with AsyncExitStack() as stack:
            response = await self._send(request)
            stack.push_async_callback(response.aclose)
            await _check(response)
            kind = response.headers.get("content-type", "application/json")
            return Relayed(kind, _read(response), stack.pop_all())

    async def _send(self, request: httpx.Request) -> httpx.Response:
        try:
            return await self._client.send(request, stream=True)
        except httpx.TimeoutException as error:
            raise ModelTimeout("the model was silent for too long: raise SOULGRAPH_LLM_TIMEOUT_S") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            detail = "the model's server cannot be reached: is it running, and is SOULGRAPH_LLM_BASE_URL right?"
            raise ModelUnavailable(detail, reason="unreachable") from error


def words_of(answer: Json) -> str:
    """The words of a whole answer; empty if it has none."""
    message = answer["choices"][0].get("message") if answer["choices"] else None
    words = message.get("content") if isinstance(message, dict) else None
    return words if isinstance(words, str) else ""


async def _read(response: httpx.Response) -> AsyncIterator[bytes]:
    try:
        async for chunk in response.aiter_bytes():
            yield chunk
    except httpx.TimeoutException as error:
        raise ModelTimeout("the model was silent for too long: raise SOULGRAPH_LLM_TIMEOUT_S") from error
    except httpx.HTTPError as error:
        raise ModelUnavailable("the model's answer broke off", reason="broken") from error


async def _limited(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    size = 0
    async for chunk in chunks:
        size += len(chunk)
        if size > _MAX_BYTES:
            raise ModelRefused("the model's answer does not end", reason="endless")
        yield chunk


async def _check(response: httpx.Response) -> None:
    """What the server says of the request itself is for the client; its other troubles are ours."""
    status = response.status_code
    if status in _REFUSED_KEY:
        raise ModelRefused("the model's server does not accept the key: check SOULGRAPH_LLM_API_KEY", reason="key")
    if status >= httpx.codes.INTERNAL_SERVER_ERROR or status == _BUSY:
        raise ModelUnavailable(f"the model's server answered {status}: try again later", reason="server")
    if not response.is_success:
        raise InvalidInput(f"the model's server refuses the request: {await _reason(response)}")


async def _reason(response: httpx.Response) -> str:
    content = b"".join([chunk async for chunk in _limited(_read(response))])
    try:
        found = from_json(content)
        reason = found["error"]["message"]
    except (ValueError, KeyError, TypeError):
        reason = f"status {response.status_code}"
    return str(reason)[:_MAX_QUOTED]
