"""Puts right what servers send: chunks and answers that differ from OpenAI's own, before LangChain reads them."""

from collections.abc import Iterator
from typing import Any

from langchain_core.exceptions import ModelAPIError
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.outputs import ChatGenerationChunk

from soulgraph.soul.validation import whole_characters
from soulgraph.voices.call_pieces import CallPieces
from soulgraph.voices.reasoning import ThoughtFilter

MAX_TEXT = 32_000
"""Characters of an answer that are read. Of a reply guards look at 8000, and of a state update 20,000 are used."""
MAX_HIDDEN = 400_000
"""Characters of thoughts, and of whatever else is not passed on: 100,000 tokens."""
CUT = "cut"
"""The finish reason of an answer that was left because it does not end."""

_MAX_COUNT = 100_000_000
"""No call has more tokens: a larger count is a server's mistake, and would use up a budget for good."""
_FINISH_REASONS = {
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "content-filter": "content_filter",
    "safety": "content_filter",
    "sensitive": "content_filter",
}
_PASSED_ON = ("content", "tool_calls")
_HIGH_SURROGATES = "\ud800", "\udbff"
_CALLS, _HIDDEN = "soulgraph_calls", "soulgraph_hidden"
_REFUSED_TYPES = ("invalid_request_error", "authentication_error", "permission_error", "exceed_context_size_error")


def clean_chunk(chunk: dict[str, Any]) -> dict[str, Any]:
    """The chunk of a stream with what LangChain needs of it, in the types it expects; reasoning is left out."""
    if isinstance(nested := chunk.get("chunk"), dict):  # an event of the client's own helper for response formats
        return {**chunk, "chunk": clean_chunk(nested)}
    choices = [_clean_choice(choice) for choice in _list(chunk.get("choices")) if isinstance(choice, dict)]
    return {**chunk, "choices": choices, "usage": clean_usage(chunk.get("usage"))}


def set_aside(chunk: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A clean chunk without what LangChain shall not see, and that: pieces of calls, and how much is not passed on."""
    choices = chunk.get("choices") or chunk.get("chunk", {}).get("choices")
    if not choices:
        return chunk, {}
    delta = choices[0]["delta"]
    aside = {_CALLS: delta.pop("tool_calls", None), _HIDDEN: delta.pop(_HIDDEN)}
    return chunk, {name: value for name, value in aside.items() if value}


def clean_usage(usage: Any) -> dict[str, Any] | None:
    """The reported usage; None if its counts cannot be meant, so that they are estimated instead."""
    if not isinstance(usage, dict):
        return None
    counts = {name: usage.get(name) for name in ("prompt_tokens", "completion_tokens")}
    if not all(_is_count(count) for count in counts.values()) or not any(counts.values()):
        return None
    details = ("prompt_tokens_details", "completion_tokens_details")
    return {**counts, "total_tokens": sum(counts.values()), **{name: _counts_in(usage.get(name)) for name in details}}


def clean_finish_reason(reason: Any) -> str | None:
    if not isinstance(reason, str) or not reason:
        return None
    return _FINISH_REASONS.get(reason.lower(), reason.lower())


def require_choices(response: Any) -> None:
    """Raise ModelAPIError if a plain answer, a model of OpenAI's client, is an error or has nothing in it."""
    if error := getattr(response, "error", None):
        raise ModelAPIError(f"the server answered with an error: {error}")
    choices = getattr(response, "choices", None)
    if not isinstance(choices, list) or not choices or getattr(choices[0], "message", None) is None:
        raise ModelAPIError("the server's answer has no choices")


def is_refusal(body: Any) -> bool:
    """Whether an error that came inside a stream says no for good, and not "later"."""
    if not isinstance(body, dict):
        return False
    code = body.get("code")
    is_client_error = str(code).isdigit() and 400 <= int(str(code)) < 500 and int(str(code)) not in (408, 429)
    return is_client_error or body.get("type") in _REFUSED_TYPES


class StreamCleaner:
    """Passes the chunks of one stream on without thoughts, and with one usage and one finish reason at most.

    Calls come whole: before the text behind them, else in the end. `full` once there is more than anybody means.
    """

    def __init__(self, thoughts: ThoughtFilter) -> None:
        self._thoughts = thoughts
        self._calls = CallPieces()
        self._text_left, self._hidden_left = MAX_TEXT, MAX_HIDDEN
        self._begun = self._finished = False
        self._half = ""  # of a character that goes on in the next chunk
        self._usage: Any = None

    @property
    def full(self) -> bool:
        return self._calls.full or self._text_left <= 0 or self._hidden_left <= 0

    def feed(self, chunk: ChatGenerationChunk) -> Iterator[ChatGenerationChunk]:
        """What there is to pass on; what is empty would only be kept and added up."""
        message = chunk.message
        if not isinstance(message, AIMessageChunk):
            yield chunk
            return
        if message.usage_metadata:  # some servers send the counts so far with every chunk: LangChain would add them up
            self._usage = message.usage_metadata
            message.usage_metadata = None
        self._keep_first_finish_reason(chunk)
        self._calls.feed(message.additional_kwargs.pop(_CALLS, ()))
        text = self._spoken(self._characters(str(message.content)), message.additional_kwargs.pop(_HIDDEN, 0))
        if text and (calls := self._calls.take_whole()):
            yield _calling(calls)
        if text or chunk.generation_info or not self._begun:
            self._begun = True
            yield chunk if text == message.content else _with_text(chunk, text)

    def rest(self) -> Iterator[ChatGenerationChunk]:
        """What was held back until the end."""
        if calls := self._calls.rest():
            yield _calling(calls)
        text = self._within_limit(self._thoughts.feed(whole_characters(self._half)) + self._thoughts.rest())
        if text or self._usage:
            yield ChatGenerationChunk(message=AIMessageChunk(content=text, usage_metadata=self._usage))
        if self.full and not self._finished:
            yield ChatGenerationChunk(message=AIMessageChunk(content=""), generation_info={"finish_reason": CUT})

    def _characters(self, content: str) -> str:
        content = self._half + content
        self._half = content[-1:] if _HIGH_SURROGATES[0] <= content[-1:] <= _HIGH_SURROGATES[1] else ""
        return whole_characters(content.removesuffix(self._half))

    def _spoken(self, content: str, hidden: int) -> str:
        text = self._thoughts.feed(content[: self._text_left + self._hidden_left])
        self._hidden_left -= hidden + max(0, len(content) - len(text))
        return self._within_limit(text)

    def _within_limit(self, text: str) -> str:
        text = text[: max(0, self._text_left)]
        self._text_left -= len(text)
        return text

    def _keep_first_finish_reason(self, chunk: ChatGenerationChunk) -> None:
        info = chunk.generation_info
        if info and "finish_reason" in info:
            if self._finished:
                chunk.generation_info = None  # merged with the first it would read "stopstop"
            self._finished = True


def _calling(calls: list[ToolCallChunk]) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))


def _with_text(chunk: ChatGenerationChunk, text: str) -> ChatGenerationChunk:
    message = chunk.message.model_copy(update={"content": text})
    return ChatGenerationChunk(message=message, generation_info=chunk.generation_info)


def _clean_choice(choice: dict[str, Any]) -> dict[str, Any]:
    delta = choice.get("delta")
    delta = delta if isinstance(delta, dict) else {}
    kept = {name: delta[name] for name in _PASSED_ON if delta.get(name)}
    beside = (value for name, value in delta.items() if name not in (*_PASSED_ON, "role"))
    hidden = sum(len(value) for value in beside if isinstance(value, str))
    if "content" in kept:
        kept["content"] = text_of_parts(kept["content"])
    if "tool_calls" in kept:
        kept["tool_calls"] = _clean_calls(kept["tool_calls"])
    return {
        **choice,
        "delta": {"role": "assistant", _HIDDEN: hidden, **kept},
        "finish_reason": clean_finish_reason(choice.get("finish_reason")),
    }


def text_of_parts(content: Any) -> str:
    """The text of a content; of a list of parts, only of those that are text, since others may be thoughts."""
    if isinstance(content, str):
        return content
    parts = [part for part in _list(content) if isinstance(part, dict) and part.get("type") == "text"]
    return "".join(str(part.get("text") or "") for part in parts)


def _clean_calls(calls: Any) -> list[dict[str, Any]]:
    """Calls that have a function, each with an index: LangChain silently drops calls without one."""
    usable = [call for call in _list(calls) if isinstance(call, dict) and isinstance(call.get("function"), dict)]
    return [
        {**call, "index": place if call.get("index") is None else call["index"]} for place, call in enumerate(usable)
    ]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT


def _counts_in(details: Any) -> dict[str, int]:
    return {name: count for name, count in details.items() if _is_count(count)} if isinstance(details, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
