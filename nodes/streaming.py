"""What a node sends to listeners while it runs, and what it hides from a parent graph's stream of messages."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessageChunk
from langgraph.graph.message import push_message
from langgraph.runtime import Runtime
from langgraph.types import Command

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnEvent, TurnEventKind, Utterance, reply_id


def emit(event: TurnEventKind, data: Any, runtime: Runtime[Context]) -> None:
    """Send an event to those who listen to this turn."""
    runtime.stream_writer(TurnEvent(event, data))


def emit_token(text: str, utterance: Utterance, runtime: Runtime[Context]) -> None:
    """Send a piece of the reply to listeners, and to a parent graph that streams messages."""
    emit("token", {"text": text}, runtime)
    push_message(AIMessageChunk(content=text, id=reply_id(utterance)), state_key=None)


def hide_messages(update: Mapping[str, Any] | Command[Any]) -> Command[Any]:
    """The same update in a form that LangGraph does not search for messages to stream to a parent's listeners."""
    if not isinstance(update, Command):
        return Command(update=list(update.items()))
    if isinstance(update.update, dict):
        return replace(update, update=list(update.update.items()))
    return update
