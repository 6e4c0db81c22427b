"""ChatOpenAI for any server with an OpenAI-compatible API: faster with long conversations, and more tolerant."""

import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, Self, cast

from langchain_core.exceptions import ModelAPIError
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from openai import APIError, BadRequestError, UnprocessableEntityError
from pydantic import PrivateAttr, model_validator

from soulgraph.soul.validation import whole_characters
from soulgraph.voices.plain_chunks import PlainCompletions, dumped
from soulgraph.voices.reasoning import ReasoningEcho, ThoughtFilter
from soulgraph.voices.refused_parameters import Attempt, names_sent, without
from soulgraph.voices.wire import (
    StreamCleaner,
    clean_chunk,
    clean_finish_reason,
    clean_usage,
    is_refusal,
    require_choices,
    set_aside,
)

_WIRE_FIELDS = ("messages", "tools")
_OPENAI_HOST = "api.openai.com"
_LIMIT_NAMES = ("max_tokens", "max_completion_tokens")
_CONSEQUENCES = {
    "stream_options": "what a streamed answer costs is estimated from the texts",
    "tools": "the soul speaks without tools",
}
_OTHER_CONSEQUENCE = "it is no longer sent"

_THINKS = re.compile(r"(?<![a-z])(?:r1|qwq|thinking|reasoner|reasoning)(?![a-z])", re.IGNORECASE)
"""Names of models whose answers may begin inside a thought: then the first one is held back until that is known."""

_log = logging.getLogger(__name__)


class LeanChatOpenAI(ChatOpenAI):
    """Sends messages and tools as `extra_body`, which the OpenAI client does not transform.

    They are in wire form already; the client's transformation would cost half a millisecond for each message.
    """

    _refused: set[str] = PrivateAttr(default_factory=set)
    _starts_inside_thought: bool = PrivateAttr(default=False)
    """By its name at first; every answer teaches better."""
    _reasoning: ReasoningEcho = PrivateAttr(default_factory=ReasoningEcho)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._starts_inside_thought = _THINKS.search(self.model_name) is not None

    @model_validator(mode="after")  # behind the parent's, which makes the client
    def _stream_plain_data(self) -> Self:
        self.async_client = PlainCompletions(self.async_client)
        return self

    def _get_request_payload(self, *args: Any, attempt: Attempt | None = None, **kwargs: Any) -> dict[str, Any]:
        payload = super()._get_request_payload(*args, **kwargs)
        payload = without(payload, self._refused | (attempt.dropped if attempt else set()), self._limit_names)
        payload["messages"] = self._reasoning.attach(payload["messages"])
        if attempt:
            attempt.sent = names_sent(payload)
        fields = {name: payload.pop(name) for name in _WIRE_FIELDS if name in payload}
        return {**payload, "messages": [], "extra_body": {**(payload.get("extra_body") or {}), **fields}}

    @property
    def _limit_names(self) -> tuple[str, ...]:
        """OpenAI's newer models know only the newer name, and most other servers only the older."""
        is_openai = self.root_async_client.base_url.host == _OPENAI_HOST
        return _LIMIT_NAMES[::-1] if is_openai else _LIMIT_NAMES

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        """Stream with usage. What a server refuses is left out, now and from then on.

        A refusal comes before the first chunk, so nothing is yielded twice.
        """
        attempt = Attempt()
        while True:
            try:
                async for chunk in self._clean_stream(*args, attempt=attempt, **kwargs):
                    self._remember(attempt)  # only an answer proves that it works without
                    yield chunk
                return
            except (BadRequestError, UnprocessableEntityError) as error:
                if not attempt.drop(error):
                    raise
            except APIError as error:
                if type(error) is APIError and not is_refusal(error.body):  # one that came inside the stream
                    raise ModelAPIError(f"the answer broke off: {error.message}") from error
                raise

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        attempt = Attempt()
        while True:
            try:
                result = await super()._agenerate(*args, attempt=attempt, **kwargs)
            except (BadRequestError, UnprocessableEntityError) as error:
                if not attempt.drop(error):
                    raise
            else:
                self._remember(attempt)
                return result

    async def _clean_stream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        thoughts = ThoughtFilter(self._starts_inside_thought)
        cleaner = StreamCleaner(thoughts)
        answer = cast(AsyncGenerator[ChatGenerationChunk], super()._astream(*args, **kwargs))
        async with aclosing(answer):  # left early, it hangs up, and the server stops too
            async for raw in answer:
                for chunk in cleaner.feed(raw):
                    yield chunk
                if cleaner.full:
                    break
        for chunk in cleaner.rest():
            yield chunk
        self._starts_inside_thought = thoughts.closed_unopened

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **kwargs: Any
    ) -> ChatGenerationChunk | None:
        for choice in chunk.get("choices") or ():
            self._reasoning.note(chunk.get("id"), choice.get("delta") if isinstance(choice, dict) else None)
        cleaned, aside = set_aside(clean_chunk(chunk))
        generation = super()._convert_chunk_to_generation_chunk(cleaned, *args, **kwargs)
        if generation:
            generation.message.additional_kwargs |= aside
        return generation

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        if not hasattr(response, "model_dump"):  # a page of a proxy, for example: the parent says what it is
            return super()._create_chat_result(response, generation_info)
        require_choices(response)
        if clean_usage(dumped(getattr(response, "usage", None))) is None:
            response.usage = None
        self._reasoning.note(getattr(response, "id", None), dumped(response.choices[0].message))
        result = super()._create_chat_result(response, generation_info)
        for generation in result.generations:
            self._clean_generation(generation.message, generation.generation_info or {})
        return result

    def _clean_generation(self, message: Any, info: dict[str, Any]) -> None:
        info["finish_reason"] = clean_finish_reason(info.get("finish_reason"))
        if isinstance(message, AIMessage) and isinstance(message.content, str):
            thoughts = ThoughtFilter()
            message.content = thoughts.feed(whole_characters(message.content)) + thoughts.rest()
            self._starts_inside_thought |= thoughts.closed_unopened

    def _remember(self, attempt: Attempt) -> None:
        for name in sorted(attempt.lasting - self._refused):
            self._refused.add(name)
            consequence = _CONSEQUENCES.get(name, _OTHER_CONSEQUENCE)
            _log.warning("voice: the server of %s refuses %s, so %s", self.model_name, name, consequence)
