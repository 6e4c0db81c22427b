"""Counts the calls and tokens of models: `with metered() as meter:` counts every call made inside the block."""

from asyncio import CancelledError
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.exceptions import ModelTimeoutError
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.tracers.context import register_configure_hook

from soulgraph.prompts.tokens import tokens_of
from soulgraph.voices.offline import MODEL_TYPE as OFFLINE


@dataclass(frozen=True, slots=True)
class Usage:
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )

    def __sub__(self, other: "Usage") -> "Usage":
        return self + Usage(-other.calls, -other.input_tokens, -other.output_tokens)

    def __bool__(self) -> bool:
        return self != _NOTHING


_NOTHING = Usage()
_ABANDONED = (TimeoutError, ModelTimeoutError, CancelledError)


class Meter(BaseCallbackHandler):
    """A LangChain callback: what was `spent` so far, and how much of it is already `written` to the database."""

    run_inline = True  # otherwise LangChain makes a task, or uses a thread, for every event
    ignore_chain = ignore_agent = ignore_retriever = True

    def __init__(self) -> None:
        self.spent = self.written = _NOTHING
        self._open_calls: dict[UUID, Sequence[BaseMessage]] = {}
        self._streamed: dict[UUID, str] = {}  # what has come of their answers

    @property
    def unwritten(self) -> Usage:
        return self.spent - self.written

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Count a call, unless it is the offline voice, which costs nothing."""
        if kwargs["invocation_params"].get("_type") != OFFLINE:
            self._open_calls[run_id] = messages[0]
            self.spent += Usage(calls=1)

    def on_llm_new_token(self, token: Any, *, run_id: UUID, **kwargs: Any) -> None:
        if run_id in self._open_calls and isinstance(token, str):
            self._streamed[run_id] = self._streamed.get(run_id, "") + token

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        if run_id in self._open_calls:
            self.spent += _cost(self._open_calls.pop(run_id), _answer_in(response))
            self._streamed.pop(run_id, None)

    def on_llm_error(
        self, error: BaseException, *, run_id: UUID, response: LLMResult | None = None, **kwargs: Any
    ) -> None:
        """Count the tokens of an answer that broke off. A call that the server refused or never got costs none."""
        if response and (answer := _answer_in(response)) and _text_of(answer):
            self.on_llm_end(response, run_id=run_id)
        elif not isinstance(error, _ABANDONED):
            self._open_calls.pop(run_id, None)
            self._streamed.pop(run_id, None)

    def close(self) -> None:
        """Count calls that were abandoned: the model has read their input, and has written what came of the answer.

        A stream that is left early is closed by the garbage collection, which may be after this.
        """
        for run_id, messages in self._open_calls.items():
            self.spent += _cost(messages, AIMessage(self._streamed.get(run_id, "")))
        self._open_calls.clear()
        self._streamed.clear()


_current_meter: ContextVar[Meter | None] = ContextVar("meter", default=None)
# LangChain adds the meter of the context to the callbacks of every run, so nobody has to pass it on.
register_configure_hook(_current_meter, inheritable=False)


@contextmanager
def metered() -> Iterator[Meter]:
    """A meter for the calls made in this block. Inside another one it takes over: nothing is counted twice."""
    meter = Meter()
    before = _current_meter.set(meter)
    try:
        yield meter
    finally:
        _current_meter.reset(before)
        meter.close()


def current_meter() -> Meter:
    """The meter of the innermost block around the caller; outside of all, an empty one."""
    return _current_meter.get() or Meter()


def _answer_in(response: LLMResult) -> AIMessage | None:
    """The first message of a response; None if it has none."""
    for generation in (candidate for candidates in response.generations for candidate in candidates):
        if isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
            return generation.message
    return None


def _cost(messages: Sequence[BaseMessage], answer: AIMessage | None) -> Usage:
    """The tokens that the server reported, or an estimate from the texts if it reported none."""
    if answer and (reported := answer.usage_metadata):
        return Usage(0, reported["input_tokens"], reported["output_tokens"])
    input_tokens = sum(tokens_of(_text_of(message)) for message in messages)
    return Usage(0, input_tokens, tokens_of(_text_of(answer)) if answer else 0)


def _text_of(message: BaseMessage) -> str:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return message.text + "".join(f"{call['name']}{call['args']}" for call in calls)
