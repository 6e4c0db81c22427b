"""The offline voice: a deterministic chat model that answers from prepared lines, without any network."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolCall,
    ToolMessage,
)
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from soulgraph.prompts.cues import Cues, cues_of
from soulgraph.voices.offline_parsing import tool_request_in
from soulgraph.voices.offline_reply import default_cues, turn_answer
from soulgraph.voices.offline_tasks import HEURISTICS, task_answer

MODEL_NAME = "offline"
MODEL_TYPE = "soulgraph-offline"
CHUNK_CHARS = 6


def answer(messages: Sequence[BaseMessage], tools: Collection[str] = ()) -> AIMessage:
    """The answer to these messages: a task's output, a tool call, or the reply of a turn."""
    cues = cues_of(messages)
    if cues.get("task") in HEURISTICS:
        return _message(task_answer(cues))
    human = next((m for m in reversed(messages) if isinstance(m, HumanMessage)), None)
    turn_cues = cast(Cues, {**default_cues(human.text if human else ""), **cues})
    last = messages[-1] if messages else None
    if isinstance(last, HumanMessage) and (call := _requested_call(turn_cues["user_text"], tools)):
        return AIMessage(content="", tool_calls=[call], response_metadata={"model_name": MODEL_NAME})
    return _message(turn_answer(turn_cues, last if isinstance(last, ToolMessage) else None))


def _message(content: str) -> AIMessage:
    return AIMessage(content=content, response_metadata={"model_name": MODEL_NAME, "finish_reason": "stop"})


def _requested_call(text: str, tools: Collection[str]) -> ToolCall | None:
    """The tool call that the user's words ask for; None without one, or if the tool is not bound."""
    request = tool_request_in(text)
    if request is None or request.tool not in tools:
        return None
    call_id = f"offline-{zlib.crc32(text.encode()):08x}"
    return tool_call(name=request.tool, args={request.argument: request.value}, id=call_id)


def chunks_of(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """The message in small pieces. Metadata is on the last alone: merging chunks would repeat it."""
    text = message.text
    pieces = [text[i : i + CHUNK_CHARS] for i in range(0, len(text), CHUNK_CHARS)]
    for piece in pieces[:-1]:
        yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
    last = message.model_dump(include={"response_metadata", "tool_calls"})
    final = AIMessageChunk(content=pieces[-1] if pieces else "", chunk_position="last", **last)
    yield ChatGenerationChunk(message=final)


class OfflineVoice(BaseChatModel):
    """Answers in Chinese and English, so that every feature can be tried without an API key."""

    model_name: str = MODEL_NAME

    @property
    def _llm_type(self) -> str:
        return MODEL_TYPE

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        callable_tools = [] if tool_choice == "none" else tools
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in callable_tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=answer(messages, _tool_names(kwargs)))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, **kwargs)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield from chunks_of(answer(messages, _tool_names(kwargs)))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages, **kwargs):
            yield chunk
            await asyncio.sleep(0)  # others run between chunks, as with a model on the network


def _tool_names(kwargs: dict[str, Any]) -> list[str]:
    return [tool["function"]["name"] for tool in kwargs.get("tools") or ()]
