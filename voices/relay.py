"""Passes requests on to the language model's server as they are, for what is said to no soul."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from soulgraph.errors import ModelRefused, ModelTimeout, ModelUnavailable
from soulgraph.senses.endpoint import Endpoint

_OPENAI = "https://api.openai.com/v1"
_CONNECT_S = 10.0
_REFUSED_KEY = (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)


@dataclass(frozen=True, slots=True)
class Relayed:
    """An answer of the server, which is read while it arrives. Closing it ends the request."""

    status: int
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

    async def complete(self, body: Mapping[str, Any]) -> Relayed:
        """Raises ModelUnavailable, ModelTimeout, or ModelRefused if it is our key that is refused."""
        url = f"{(self._endpoint.base_url or _OPENAI).rstrip('/')}/chat/completions"
        request = self._client.build_request("POST", url, json={**body, "model": self._endpoint.model})
        async with AsyncExitStack() as stack:
            try:
                response = await self._client.send(request, stream=True)
            except httpx.TimeoutException as error:
                raise ModelTimeout("the model was silent for too long: raise SOULGRAPH_LLM_TIMEOUT_S") from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                detail = "the model's server cannot be reached: is it running, and is SOULGRAPH_LLM_BASE_URL right?"
                raise ModelUnavailable(detail, reason="unreachable") from error
            stack.push_async_callback(response.aclose)
            _check(response.status_code)
            kind = response.headers.get("content-type", "application/json")
            return Relayed(response.status_code, kind, _read(response), stack.pop_all())
        raise AssertionError("unreachable")


async def _read(response: httpx.Response) -> AsyncIterator[bytes]:
    """An answer that breaks off ends here too: what came of it is passed on, and the rest is missed by the client."""
    try:
        async for chunk in response.aiter_bytes():
            yield chunk
    except httpx.HTTPError as error:
        raise ModelUnavailable("the model's answer broke off", reason="broken") from error


def _check(status: int) -> None:
    """What the server says of the request itself is for the client; its other troubles are ours."""
    if status in _REFUSED_KEY:
        raise ModelRefused("the model's server does not accept the key: check SOULGRAPH_LLM_API_KEY", reason="key")
    if status >= httpx.codes.INTERNAL_SERVER_ERROR:
        raise ModelUnavailable(f"the model's server answered {status}: try again later", reason="server")
