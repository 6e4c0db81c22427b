"""Where the words of an answer go as they arrive: a message for each of them would cost more than all the rest.

`with writing_to(sink):` around a call of a model that `writes_to_sink`: the sink gets every piece of text at once, and
the call itself gives the answer in few chunks.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler, BaseCallbackManager, Callbacks
from langchain_core.tracers import BaseTracer

from soulgraph.compat import streams_messages

TextSink = Callable[[str], bool]
"""Takes a piece of an answer, and says whether it has had enough."""

_current_sink: ContextVar[TextSink | None] = ContextVar("text_sink", default=None)


@contextmanager
def writing_to(sink: TextSink | None) -> Iterator[None]:
    before = _current_sink.set(sink)
    try:
        yield
    finally:
        _current_sink.reset(before)


def current_sink() -> TextSink | None:
    return _current_sink.get()


def wants_tokens(callbacks: Callbacks) -> bool:
    """Whether a callback is there to be told of every token. A tracer only keeps when the first one came."""
    handlers = callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks or []
    return any(_hears_tokens(handler) for handler in handlers)


def _hears_tokens(handler: BaseCallbackHandler) -> bool:
    ignored = BaseCallbackHandler.on_llm_new_token, AsyncCallbackHandler.on_llm_new_token
    # What LangGraph streams of messages are those that are pushed: the model's own are hidden from it.
    if isinstance(handler, BaseTracer) or streams_messages(handler):
        return False
    return type(handler).on_llm_new_token not in ignored
