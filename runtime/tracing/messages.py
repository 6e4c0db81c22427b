"""Chat messages as traces show them: who said it, what, and which tools were called."""

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from soulgraph.stores.records import Json

_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def chat_message(message: BaseMessage) -> Json:
    """As plain data; what else a message carries is for machines, and would tell everything twice."""
    told: Json = {"role": _ROLES.get(message.type, message.type), "content": _text_of(message.content)}
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = message.tool_calls
        told["tool_calls"] = [{"id": call["id"], "name": call["name"], "arguments": call["args"]} for call in calls]
    if isinstance(message, ToolMessage):
        told["tool_call_id"] = message.tool_call_id
    return told


def _text_of(content: str | list[str | dict[Any, Any]]) -> str:
    """The text; of a picture or a sound only that there is one."""
    if isinstance(content, str):
        return content
    return "\n".join(block if isinstance(block, str) else _text_of_block(block) for block in content)


def _text_of_block(block: dict[Any, Any]) -> str:
    return str(block.get("text") or f"[{block.get('type', 'content')}]")
