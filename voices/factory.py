"""Opens the voice: the configured chat model, or the offline voice under the name `offline`."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.request import getproxies

import httpx2
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from pydantic import SecretStr

from soulgraph.senses.endpoint import Endpoint
from soulgraph.voices.bounded_http import HEADERS, bound
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.providers import context_tokens
from soulgraph.voices.voice import Habits, Voice

OFFLINE = "offline"
_PROXIED = {"http", "https", "all"}


@asynccontextmanager
async def open_voice(endpoint: Endpoint | None, tools: Sequence[BaseTool]) -> AsyncIterator[Voice]:
    """The voice of this endpoint; the offline voice if there is none."""
    if endpoint is None:
        yield Voice(OFFLINE, OfflineVoice(), tools)
        return
    # One HTTP client for all calls: a new one per request is many times slower to the first token.
    async with _http_client(endpoint.timeout_s) as client:
        reads = await context_tokens(endpoint) if endpoint.base_url else None  # OpenAI does not tell
        yield Voice(endpoint.model, _chat_model(endpoint, client), tools, _habits(endpoint), reads)


def _http_client(timeout_s: float) -> httpx2.AsyncClient:
    """Over aiohttp, unless the system has proxies: a client that is given a transport ignores them."""
    from soulgraph.voices.aiohttp_transport import AiohttpTransport  # the offline voice needs none of it

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout_s, connect=10),
        limits=httpx2.Limits(max_connections=None, max_keepalive_connections=64),
        headers=HEADERS,
        event_hooks={"response": [bound]},
        transport=None if getproxies().keys() & _PROXIED else AiohttpTransport(),
    )


def _habits(endpoint: Endpoint) -> Habits:
    """Until a model is known it just talks, because every model can."""
    if endpoint.carrier == "auto":
        return Habits("plain", known=False)
    return Habits(endpoint.carrier)


def _chat_model(endpoint: Endpoint, client: httpx2.AsyncClient) -> BaseChatModel:
    from soulgraph.voices.lean_openai import LeanChatOpenAI  # takes a second, and the offline voice needs none of it

    return LeanChatOpenAI(
        model=endpoint.model,
        base_url=endpoint.base_url or None,
        api_key=SecretStr(endpoint.api_key or "none"),
        temperature=endpoint.temperature,
        max_completion_tokens=endpoint.max_tokens or None,
        timeout=endpoint.timeout_s,
        stream_chunk_timeout=None,  # the HTTP client's read timeout does the same for less
        stream_usage=True,  # by default it is asked for only at OpenAI's own endpoint
        max_retries=0,  # the graph retries, because it knows what was already shown
        use_responses_api=False,
        http_async_client=client,
    )
