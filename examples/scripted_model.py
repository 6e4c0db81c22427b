"""A chat model that says what it was told to say, so that the examples run without a key. Use your own in its place."""

from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


def calls(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[tool_call(name=name, args=arguments, id=f"call {name}")])


class ScriptedModel(BaseChatModel):
    script: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> "ScriptedModel":
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.script.pop(0))])

    def _stream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        said = self.script.pop(0)
        chunk = AIMessageChunk(content=said.content, tool_calls=said.tool_calls, chunk_position="last")
        yield ChatGenerationChunk(message=chunk)
