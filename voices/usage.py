"""The meter for model calls: `with metered() as meter:` counts every one made inside, in whatever task or node."""

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
_GIVEN_UP = (TimeoutError, ModelTimeoutError, CancelledError)


class Meter(BaseCallbackHandler):
    """What was `spent` so far, and what of it is already `written` down."""

    run_inline = True  # else LangChain makes a task, or takes a thread, for every event
    ignore_chain = ignore_agent = ignore_retriever = True

    def __init__(self) -> None:
        self.spent = self.written = _NOTHING
        self._asked: dict[UUID, Sequence[BaseMessage]] = {}

    @property
    def unwritten(self) -> Usage:
        return self.spent - self.written

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **kwargs: Any
    ) -> None:
        """The offline voice is no model."""
        if kwargs["invocation_params"].get("_type") != OFFLINE:
            self._asked[run_id] = messages[0]
            self.spent += Usage(calls=1)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        if run_id in self._asked:
            self.spent += _cost(self._asked.pop(run_id), _answer(response))

    def on_llm_error(
        self, error: BaseException, *, run_id: UUID, response: LLMResult | None = None, **kwargs: Any
    ) -> None:
        """An answer that broke off has cost something, a server that refused or was away has not."""
        if response and (answer := _answer(response)) and _said(answer):
            self.on_llm_end(response, run_id=run_id)
        elif not isinstance(error, _GIVEN_UP):
            self._asked.pop(run_id, None)

    def close(self) -> None:
        """A model that was given up on has read what it was asked."""
        for asked in self._asked.values():
            self.spent += _cost(asked, None)
        self._asked.clear()


_in_force: ContextVar[Meter | None] = ContextVar("meter", default=None)
register_configure_hook(_in_force, inheritable=False)


@contextmanager
def metered() -> Iterator[Meter]:
    """A meter inside another takes over: what it counts is not counted twice."""
    meter = Meter()
    before = _in_force.set(meter)
    try:
        yield meter
    finally:
        _in_force.reset(before)
        meter.close()


def spending() -> Meter:
    """The meter in force; where there is none, one that has counted nothing."""
    return _in_force.get() or Meter()


def _answer(response: LLMResult) -> AIMessage | None:
    for generation in (candidate for candidates in response.generations for candidate in candidates):
        if isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
            return generation.message
    return None


def _cost(asked: Sequence[BaseMessage], answer: AIMessage | None) -> Usage:
    """What the server told; an estimate from the texts if it told nothing."""
    if answer and (told := answer.usage_metadata):
        return Usage(0, told["input_tokens"], told["output_tokens"])
    return Usage(0, sum(tokens_of(_said(message)) for message in asked), tokens_of(_said(answer)) if answer else 0)


def _said(message: BaseMessage) -> str:
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return message.text + "".join(f"{call['name']}{call['args']}" for call in calls)
