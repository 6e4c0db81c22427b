"""Words that are shown while they are found, and those that are not for showing."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessageChunk
from langgraph.graph.message import push_message
from langgraph.runtime import Runtime
from langgraph.types import Command

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Said, reply_id


def tell(text: str, said: Said, runtime: Runtime[Context]) -> None:
    """To those who listen to events, and to a parent graph that streams messages."""
    runtime.stream_writer({"event": "token", "data": {"text": text}})
    push_message(AIMessageChunk(content=text, id=reply_id(said)), state_key=None)


def hide_messages(update: Mapping[str, Any] | Command[Any]) -> Command[Any]:
    """The same update; LangGraph shows a parent's listeners the messages that it finds in a mapping."""
    if not isinstance(update, Command):
        return Command(update=list(update.items()))
    if isinstance(update.update, dict):
        return replace(update, update=list(update.update.items()))
    return update
