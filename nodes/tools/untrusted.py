"""Words of strangers in tools: how terminals and MCP servers describe theirs, and what any tool answers."""

from collections.abc import Awaitable, Callable
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from soulgraph.prompts.defuse import defuse, one_line

_PROSE = ("description", "title")

Execute = Callable[[ToolCallRequest], Awaitable[Any]]
Wrap = Callable[[ToolCallRequest, Execute], Awaitable[Any]]


def harmless_prose(text: str) -> str:
    return defuse(one_line(text))


def harmless_schema(schema: Any) -> Any:
    """The schema with its prose made harmless: what it calls things and allows stays as it is."""
    if isinstance(schema, list):
        return [harmless_schema(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _harmless_field(key, part) for key, part in schema.items()}


def _harmless_field(key: str, part: Any) -> Any:
    return harmless_prose(part) if key in _PROSE and isinstance(part, str) else harmless_schema(part)


def defusing(wrap: Wrap) -> Wrap:
    """Run a tool inside `wrap`; its answer cannot pass for a part of the prompt."""

    async def run(request: ToolCallRequest, execute: Execute) -> Any:
        answer = await wrap(request, execute)
        return _harmless(answer) if isinstance(answer, ToolMessage) else answer

    return run


def _harmless(message: ToolMessage) -> ToolMessage:
    content = message.content
    parts = defuse(content) if isinstance(content, str) else [_harmless_part(part) for part in content]
    return message.model_copy(update={"content": parts})


def _harmless_part(part: Any) -> Any:
    """A block of text; others, such as images, stay as they are."""
    if isinstance(part, str):
        return defuse(part)
    return part | {"text": defuse(part["text"])} if isinstance(part.get("text"), str) else part
