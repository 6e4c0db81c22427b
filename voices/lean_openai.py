"""ChatOpenAI for any server with an OpenAI-compatible API: faster with long conversations, and more tolerant."""

import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, ClassVar

from langchain_core.exceptions import ModelAPIError
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai import ChatOpenAI
from openai import APIError, BadRequestError, UnprocessableEntityError
from pydantic import BaseModel, PrivateAttr

from soulgraph.compat import raise_as_langchain
from soulgraph.soul.validation import whole_characters
from soulgraph.voices.completions import stream_chunks
from soulgraph.voices.deltas import Collected, chunk_of, whole_chunk
from soulgraph.voices.reasoning import ReasoningEcho, ThoughtFilter
from soulgraph.voices.refused_parameters import Attempt, names_sent, without
from soulgraph.voices.text_sink import TextSink, current_sink
from soulgraph.voices.wire import (
    Delta,
    StreamCleaner,
    clean_finish_reason,
    clean_usage,
    is_refusal,
    require_choices,
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
    """Streams plain data itself. For whole answers it sends messages and tools as `extra_body`.

    They are in wire form already; the OpenAI client's transformation would cost half a millisecond for each message.
    """

    writes_to_sink: ClassVar[bool] = True
    """Whether the words of a stream go to the `text_sink` around it."""

    _refused: set[str] = PrivateAttr(default_factory=set)
    _starts_inside_thought: bool = PrivateAttr(default=False)
    """By its name at first; every answer teaches better."""
    _reasoning: ReasoningEcho = PrivateAttr(default_factory=ReasoningEcho)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        self._starts_inside_thought = _THINKS.search(self.model_name) is not None

    def _get_request_payload(self, *args: Any, attempt: Attempt | None = None, **kwargs: Any) -> dict[str, Any]:
        payload = self._wire_payload(*args, attempt=attempt or Attempt(), **kwargs)
        fields = {name: payload.pop(name) for name in _WIRE_FIELDS if name in payload}
        return {**payload, "messages": [], "extra_body": {**(payload.get("extra_body") or {}), **fields}}

    def _wire_payload(self, *args: Any, attempt: Attempt, **kwargs: Any) -> dict[str, Any]:
        """The request without what the server refuses, and with the thoughts that it wants back."""
        payload = super()._get_request_payload(*args, **kwargs)
        payload = without(payload, self._refused | attempt.dropped, self._limit_names)
        payload["messages"] = self._reasoning.attach(payload["messages"])
        attempt.sent = names_sent(payload)
        return payload

    @property
    def _limit_names(self) -> tuple[str, ...]:
        """OpenAI's newer models know only the newer name, and most other servers only the older."""
        is_openai = self.root_async_client.base_url.host == _OPENAI_HOST
        return _LIMIT_NAMES[::-1] if is_openai else _LIMIT_NAMES

    async def _astream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        """An answer in a response format is of use only as a whole, and comes so."""
        if "response_format" in kwargs:
            yield whole_chunk(await self._agenerate(messages, stop, **kwargs))
            return
        deltas = self._deltas(messages, stop, **kwargs)
        sink = current_sink()
        async for chunk in _written(deltas, sink) if sink else _passed_on(deltas):
            yield chunk

    async def _deltas(
        self, messages: list[BaseMessage], stop: list[str] | None, stream_usage: bool | None = None, **kwargs: Any
    ) -> AsyncGenerator[Delta]:
        """Stream with usage. What a server refuses is left out, now and from then on.

        A refusal comes before the first chunk, so nothing is yielded twice.
        """
        kwargs["stream"] = True
        if self._should_stream_usage(stream_usage, **kwargs):
            kwargs["stream_options"] = {"include_usage": True}
        attempt = Attempt()
        while True:
            try:
                payload = self._wire_payload(messages, stop=stop, attempt=attempt, **kwargs)
                async with aclosing(self._clean_stream(payload, attempt)) as deltas:
                    async for delta in deltas:
                        yield delta
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

    async def _clean_stream(self, payload: dict[str, Any], attempt: Attempt) -> AsyncGenerator[Delta]:
        thoughts = ThoughtFilter(self._starts_inside_thought)
        cleaner = StreamCleaner(thoughts, self._reasoning)
        answered = False
        try:
            async with aclosing(stream_chunks(self.root_async_client, payload)) as chunks:
                async for chunk in chunks:
                    if not answered:
                        answered = True
                        self._remember(attempt)  # only an answer proves that it works without
                    if delta := cleaner.feed(chunk):
                        yield delta
                    if cleaner.full:
                        break
        except APIError as error:
            raise_as_langchain(error)
        if delta := cleaner.rest():
            yield delta
        self._starts_inside_thought = thoughts.closed_unopened

    def _create_chat_result(self, response: Any, generation_info: dict[str, Any] | None = None) -> ChatResult:
        if not hasattr(response, "model_dump"):  # a page of a proxy, for example: the parent says what it is
            return super()._create_chat_result(response, generation_info)
        require_choices(response)
        if clean_usage(_dumped(getattr(response, "usage", None))) is None:
            response.usage = None
        self._reasoning.note(getattr(response, "id", None), _dumped(response.choices[0].message))
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


async def _passed_on(deltas: AsyncGenerator[Delta]) -> AsyncGenerator[ChatGenerationChunk]:
    async with aclosing(deltas):
        async for delta in deltas:
            yield chunk_of(delta)


async def _written(deltas: AsyncGenerator[Delta], sink: TextSink) -> AsyncGenerator[ChatGenerationChunk]:
    """Gives the words to the sink. The first chunk comes at once, by which traces tell when the answer began, and all
    the others as one: also what came of an answer that broke off, before its error."""
    collected = Collected()
    try:
        async with aclosing(deltas):
            async for delta in deltas:
                if not collected.begun:
                    yield chunk_of(delta)
                collected.add(delta)
                if delta.text and sink(delta.text):
                    break
    except GeneratorExit:
        raise
    except BaseException:
        if chunk := collected.rest():
            yield chunk
        raise
    if chunk := collected.rest():
        yield chunk


def _dumped(part: Any) -> Any:
    return part.model_dump(warnings=False) if isinstance(part, BaseModel) else part
