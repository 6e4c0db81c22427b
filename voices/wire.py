"""Puts right what servers send: chunks and answers that differ from OpenAI's own."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from langchain_core.exceptions import ModelAPIError
from langchain_core.messages.tool import ToolCallChunk

from soulgraph.soul.validation import whole_characters
from soulgraph.voices.call_pieces import CallPieces
from soulgraph.voices.reasoning import ReasoningEcho, ThoughtFilter

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
_NOT_HIDDEN = ("content", "tool_calls", "role")
_TOLD_AT_END = {"model": "model_name", "system_fingerprint": "system_fingerprint", "service_tier": "service_tier"}
"""What the last chunk says of the answer, and how LangChain calls it."""
_HIGH_SURROGATES = "\ud800", "\udbff"
_REFUSED_TYPES = ("invalid_request_error", "authentication_error", "permission_error", "exceed_context_size_error")


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


class Delta(NamedTuple):
    """A piece of an answer that is passed on; its calls are whole, and stand before its text."""

    text: str = ""
    calls: Sequence[ToolCallChunk] = ()
    info: dict[str, Any] | None = None
    """The finish reason, and what else is told with it."""
    usage: dict[str, Any] | None = None
    """As the server counts it, in the end."""


class StreamCleaner:
    """Passes the chunks of one stream on without thoughts, and with one usage and one finish reason at most.

    Calls come whole: before the text behind them, else in the end. `full` once there is more than anybody means.
    """

    def __init__(self, thoughts: ThoughtFilter, reasoning: ReasoningEcho) -> None:
        self._thoughts = thoughts
        self._reasoning = reasoning
        self._calls = CallPieces()
        self._text_left, self._hidden_left = MAX_TEXT, MAX_HIDDEN
        self._begun = self._finished = False
        self._half = ""  # of a character that goes on in the next chunk
        self._usage: dict[str, Any] | None = None

    @property
    def full(self) -> bool:
        return self._calls.full or self._text_left <= 0 or self._hidden_left <= 0

    def feed(self, chunk: dict[str, Any]) -> Delta | None:
        """What there is to pass on; of what is empty only the first."""
        if usage := chunk.get("usage"):  # some servers send the counts so far with every chunk
            self._usage = clean_usage(usage) or self._usage
        choice = _first_choice(chunk)
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        info = self._ending(choice, chunk) if choice.get("finish_reason") else None
        hidden = 0
        if len(delta) > 1 or "content" not in delta:  # else it is all that there is, as nearly always
            self._reasoning.note(chunk.get("id"), delta)
            self._calls.feed(_clean_calls(delta.get("tool_calls")))
            hidden = _hidden_in(delta)
        text = self._spoken(self._characters(text_of_parts(delta.get("content") or "")), hidden)
        if not text and not info and self._begun:
            return None
        self._begun = True
        return Delta(text, self._calls.take_whole() if text else (), info)

    def rest(self) -> Delta | None:
        """What was held back until the end."""
        calls = self._calls.rest()
        text = self._within_limit(self._thoughts.feed(whole_characters(self._half)) + self._thoughts.rest())
        info = {"finish_reason": CUT} if self.full and not self._finished else None
        return Delta(text, calls, info, self._usage) if text or calls or info or self._usage else None

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

    def _ending(self, choice: dict[str, Any], chunk: dict[str, Any]) -> dict[str, Any] | None:
        """What is told with the first finish reason: merged with a second one it would read "stopstop"."""
        reason = clean_finish_reason(choice.get("finish_reason"))
        if reason is None or self._finished:
            return None
        self._finished = True
        return {"finish_reason": reason} | {name: chunk[key] for key, name in _TOLD_AT_END.items() if chunk.get(key)}


def _first_choice(chunk: dict[str, Any]) -> dict[str, Any]:
    return next((choice for choice in _list(chunk.get("choices")) if isinstance(choice, dict)), {})


def _hidden_in(delta: dict[str, Any]) -> int:
    """Characters of what is not passed on, such as thoughts."""
    return sum(len(text) for name, text in delta.items() if name not in _NOT_HIDDEN and isinstance(text, str))


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
