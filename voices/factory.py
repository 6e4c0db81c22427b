"""Which voice speaks: the configured model, or the offline voice, clearly labelled."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import httpx2
from langchain_core.language_models import BaseChatModel
from langchain_core.tools import BaseTool
from pydantic import SecretStr

from soulgraph.senses.endpoint import Endpoint
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Voice

OFFLINE = "offline"


@asynccontextmanager
async def open_voice(endpoint: Endpoint | None, tools: Sequence[BaseTool]) -> AsyncIterator[Voice]:
    """One HTTP client for all calls: a new one per request would be many times slower to the first token."""
    if endpoint is None:
        yield Voice(OFFLINE, OfflineVoice(), tools)
        return
    timeout = httpx2.Timeout(endpoint.timeout_s, connect=10)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
    async with httpx2.AsyncClient(timeout=timeout, limits=limits) as client:
        yield Voice(endpoint.model, _chat_model(endpoint, client), tools)


def _chat_model(endpoint: Endpoint, client: httpx2.AsyncClient) -> BaseChatModel:
    """Retries are the graph's business (it knows what was already shown), so the client makes none."""
    from soulgraph.voices.lean_openai import LeanChatOpenAI  # a second's work, and the offline voice needs none of it

    return LeanChatOpenAI(
        model=endpoint.model,
        base_url=endpoint.base_url or None,
        api_key=SecretStr(endpoint.api_key or "none"),
        temperature=endpoint.temperature,
        timeout=endpoint.timeout_s,
        stream_chunk_timeout=None,  # the client's read timeout says the same for less
        stream_usage=True,  # not asked for by itself at other endpoints than OpenAI's
        max_retries=0,
        use_responses_api=False,
        http_async_client=client,
    )
