"""What a node sends to listeners while it runs, and what it hides from a parent graph's stream of messages."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from langchain_core.callbacks import BaseCallbackManager
from langchain_core.messages import AIMessageChunk
from langgraph.config import get_config
from langgraph.graph.message import push_message
from langgraph.runtime import Runtime
from langgraph.types import Command

from soulgraph.compat import streams_messages
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnEvent, TurnEventKind, Utterance, reply_id

_outlet: ContextVar[Callable[[TurnEvent], None] | None] = ContextVar("turn_events", default=None)


@contextmanager
def events_to(outlet: Callable[[TurnEvent], None]) -> Iterator[None]:
    """Give the events of the turn inside to the outlet at once: LangGraph's stream would cost more than all the rest
    of a token. Without this they go to that stream, and so to the parent of an embedded turn."""
    before = _outlet.set(outlet)
    try:
        yield
    finally:
        _outlet.reset(before)


def emit(event: TurnEventKind, data: Any, runtime: Runtime[Context]) -> None:
    """Send an event to those who listen to this turn."""
    send = _outlet.get() or runtime.stream_writer
    send(TurnEvent(event, data))


def token_emitter(utterance: Utterance, runtime: Runtime[Context]) -> Callable[[str], None]:
    """What sends pieces of the reply to listeners, and to a parent graph that streams messages. Who they are is looked
    up once: for every token it would cost a tenth of it."""
    send = _outlet.get() or runtime.stream_writer
    are_streamed = _are_messages_streamed()

    def emit_token(text: str) -> None:
        send(TurnEvent("token", {"text": text}))
        if are_streamed:
            push_message(AIMessageChunk(content=text, id=reply_id(utterance)), state_key=None)

    return emit_token


def _are_messages_streamed() -> bool:
    callbacks = get_config().get("callbacks")
    handlers = callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks or ()
    return any(map(streams_messages, handlers))


def hide_messages(update: Mapping[str, Any] | Command[Any]) -> Command[Any]:
    """The same update in a form that LangGraph does not search for messages to stream to a parent's listeners."""
    if not isinstance(update, Command):
        return Command(update=list(update.items()))
    if isinstance(update.update, dict):
        return replace(update, update=list(update.update.items()))
    return update
