"""A server of others that turns speech into text, or text into speech: its requests, and what its failures mean."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NoReturn

import httpx

from soulgraph.errors import InvalidInput, SoulgraphError, SpeechError, SpeechTimeout, SpeechUnavailable, TooLarge
from soulgraph.senses.endpoint import Endpoint

OPENAI = "https://api.openai.com/v1"
_CONNECT_S = 5.0
_MAX_COMPLAINT = 16 * 1024
_QUOTED = 300
# Without compression the size of an answer can be checked while it arrives.
_HEADERS = {"accept-encoding": "identity"}


class SpeechService:
    """`setting` is the first part of the names of its settings, `what` what it is called in messages."""

    def __init__(self, client: httpx.AsyncClient, endpoint: Endpoint, setting: str, what: str) -> None:
        self._client = client
        self._endpoint = endpoint
        self._setting = setting
        self._what = what

    @property
    def model(self) -> str:
        return self._endpoint.model

    @property
    def place(self) -> str:
        return self._endpoint.place

    def url(self, path: str, *whole: str) -> str:
        """The address of a path below the base URL; one that ends with it, or with one of `whole`, is the address."""
        base = (self._endpoint.base_url or OPENAI).rstrip("/")
        return base if base.endswith((path, *whole)) else base + path

    @asynccontextmanager
    async def post(self, url: str, **content: Any) -> AsyncIterator[httpx.Response]:
        """The answer with its body still to come. Raises SpeechError, InvalidInput or TooLarge if it is no success."""
        key = self._endpoint.api_key
        headers = {**_HEADERS, **({"authorization": f"Bearer {key}"} if key else {})}
        request = self._client.build_request("POST", url, headers=headers, **content)
        try:
            async with asyncio.timeout(self._endpoint.timeout_s):
                response = await self._client.send(request, stream=True)
        except TimeoutError as error:
            raise self._late() from error
        except httpx.HTTPError as error:
            raise self._unreachable(error) from error
        try:
            if not response.is_success:
                await self._refuse(response)
            yield response
        finally:
            await response.aclose()

    async def chunks(self, response: httpx.Response, limit: int) -> AsyncIterator[bytes]:
        """The body as it comes; raises SpeechError if it breaks off, pauses for too long or does not end."""
        size = 0
        body = response.aiter_raw(64 * 1024)
        while True:
            try:
                async with asyncio.timeout(self._endpoint.timeout_s):
                    chunk = await anext(body, b"")
            except TimeoutError as error:
                raise self._late() from error
            except httpx.HTTPError as error:
                raise self._unreachable(error) from error
            if not chunk:
                return
            size += len(chunk)
            if size > limit:
                raise self.failed(f"its answer is longer than {limit} bytes")
            yield chunk

    async def body(self, response: httpx.Response, limit: int) -> bytes:
        return b"".join([chunk async for chunk in self.chunks(response, limit)])

    def failed(self, why: str) -> SpeechError:
        return SpeechError(f"the {self._what} at {self.place} cannot be used: {why}")

    def _late(self) -> SpeechTimeout:
        limit = f"{self._endpoint.timeout_s:g} s: raise SOULGRAPH_SPEECH_TIMEOUT_S, or look at it"
        return SpeechTimeout(f"the {self._what} at {self.place} gave no answer within {limit}")

    def _unreachable(self, error: httpx.HTTPError) -> SoulgraphError:
        if isinstance(error, httpx.TimeoutException):
            return self._late()
        why = f"{type(error).__name__} {error}".strip()
        return SpeechUnavailable(
            f"the {self._what} at {self.place} cannot be reached ({why}): "
            f"is it running, and is {self._setting}_BASE_URL right?"
        )

    async def _refuse(self, response: httpx.Response) -> NoReturn:
        status = response.status_code
        told = complaint_of(await self._complaint(response)).replace(self._endpoint.api_key or "\0", "***")
        if status in (401, 403):
            raise self.failed(f"it does not accept the key: check {self._setting}_API_KEY")
        if status == 404 or response.is_redirect:
            raise self.failed(f"it answered {status}: check {self._setting}_BASE_URL and {self._setting}_MODEL; {told}")
        if status == 413:
            raise TooLarge(f"the {self._what} takes no audio of this size: {told}")
        if status in (400, 415, 422):
            raise InvalidInput(f"the {self._what} refused it: {told}")
        if status in (408, 504):
            raise self._late()
        if status in (429, 503):
            raise SpeechUnavailable(f"the {self._what} at {self.place} is busy ({status}): send it again later; {told}")
        raise self.failed(f"it answered {status}: {told}")

    async def _complaint(self, response: httpx.Response) -> bytes:
        try:
            return await self.body(response, _MAX_COMPLAINT)
        except SpeechError:
            return b""


@asynccontextmanager
async def open_service(endpoint: Endpoint, setting: str, what: str) -> AsyncIterator[SpeechService]:
    timeout = httpx.Timeout(endpoint.timeout_s, connect=min(_CONNECT_S, endpoint.timeout_s))
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=16)
    async with httpx.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False) as client:
        yield SpeechService(client, endpoint, setting, what)


def complaint_of(body: bytes) -> str:
    """What a server says is wrong, in the forms in which they do: OpenAI's, FastAPI's, and plain text."""
    text = body.decode("utf-8", "replace").strip()
    try:
        told = json.loads(text)
    except ValueError:
        return text[:_QUOTED] if not text.startswith("<") else "a web page"
    if isinstance(told, Mapping):
        told = told.get("error") or told.get("detail") or told.get("message") or told.get("msg") or told
    if isinstance(told, Mapping):
        told = told.get("message") or told
    return (told if isinstance(told, str) else json.dumps(told, ensure_ascii=False))[:_QUOTED]
