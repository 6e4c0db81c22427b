"""One streamed model call of a turn: shows the narrative as it arrives, and translates the model's errors."""

import logging
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from langchain_core.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.exceptions import ModelError as AnyModelError
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, ensure_config
from langgraph.constants import TAG_NOSTREAM

from soulgraph.errors import AnswerTooLong, ModelRefused, ModelTimeout, ModelUnavailable
from soulgraph.voices.reply_stream import ReplyStream
from soulgraph.voices.stop import current_stop
from soulgraph.voices.text_sink import TextSink, wants_tokens, writing_to
from soulgraph.voices.wire import CUT

_MAX_WORDS = 300
_KEY = re.compile(r"\b(?:sk|key|api|Bearer)[-_ ][\w*.-]{6,}", re.IGNORECASE)
_log = logging.getLogger(__name__)

_HIDDEN: RunnableConfig = {"run_name": "voice", "tags": [TAG_NOSTREAM]}
"""Keeps the raw tokens out of the graph's message stream: only the narrative may be shown."""


async def speak(
    speaker: Runnable[LanguageModelInput, AIMessage],
    messages: Sequence[AnyMessage],
    reply: ReplyStream,
    show: Callable[[str], None],
    stop: Sequence[str] = (),
) -> AIMessage:
    """Stream one answer and return it whole; `show` gets its narrative piece by piece.

    Reading stops as soon as nothing usable can follow, which makes servers stop too. An answer that breaks off behind
    its narrative is taken as it is: people have read it; and so is what was shown of one that does not end. Raises
    TurnStopped when a reader has had enough.
    """
    shown = False
    chunks: list[AIMessageChunk] = []

    def hear(piece: str) -> bool:
        nonlocal shown
        if text := reply.feed(piece):
            shown = True
            show(text)
        return reply.ended

    try:
        async with current_stop().interruptible():
            with translate_model_errors():
                await _listen(speaker, messages, stop, hear, chunks)
    except (ModelUnavailable, ModelTimeout) as error:
        if isinstance(error, ModelUnavailable):
            error.repeatable = not shown  # a retry would repeat what the user has read already
        if not reply.complete:
            raise
    except AnswerTooLong:
        if not shown:
            raise
    if text := reply.close():
        show(text)
    return _checked(add_ai_message_chunks(*chunks) if chunks else None)


async def _listen(
    speaker: Runnable[LanguageModelInput, AIMessage],
    messages: Sequence[AnyMessage],
    stop: Sequence[str],
    hear: TextSink,
    chunks: list[AIMessageChunk],
) -> None:
    """Hear the answer until it is enough; its chunks are there also if it breaks off."""
    writes = _writes_to_sink(speaker)
    with writing_to(hear if writes else None):
        async for chunk in speaker.astream(list(messages), _HIDDEN, stop=list(stop) or None):
            assert isinstance(chunk, AIMessageChunk)
            chunks.append(chunk)
            if not writes and hear(chunk.text):
                return


def _writes_to_sink(speaker: Runnable[LanguageModelInput, AIMessage]) -> bool:
    """Whether the model writes its words to a sink, and no callback wants them one by one."""
    model = speaker.bound if isinstance(speaker, RunnableBinding) else speaker
    return getattr(model, "writes_to_sink", False) and not wants_tokens(ensure_config().get("callbacks"))


def worth_retrying(error: Exception) -> bool:
    """True if the model could not be reached and nothing of its answer has been shown yet."""
    return isinstance(error, ModelUnavailable) and error.repeatable


@contextmanager
def translate_model_errors() -> Iterator[None]:
    """Raise whatever a chat model raises as ModelTimeout, ModelUnavailable or ModelRefused, with its `reason`.

    Whoever chats is told whose fault it is and what helps; what the provider said is in the log.
    """
    try:
        yield
    except (ModelTimeoutError, TimeoutError) as error:
        raise ModelTimeout("the model was silent for too long: raise SOULGRAPH_LLM_TIMEOUT_S") from error
    except ModelRateLimitError as error:
        raise _unavailable(
            "the model's provider takes no more requests for now: wait a little", "busy", error
        ) from error
    except ModelConnectionError as error:
        why = "the model's server cannot be reached: is it running, and is SOULGRAPH_LLM_BASE_URL right?"
        raise _unavailable(why, "unreachable", error) from error
    except ModelAPIError as error:
        raise _unavailable("the model's server failed: send it again", "failed", error) from error
    except (ModelAuthenticationError, ModelPermissionDeniedError) as error:
        raise _refused(
            "the model's server does not accept the key: check SOULGRAPH_LLM_API_KEY", "key", error
        ) from error
    except ModelNotFoundError as error:
        why = "the model's server does not know this model or address: `soulgraph model` lists what it has"
        raise _refused(why, "unknown_model", error) from error
    except _refusals() as error:
        raise _refused(f"the model's server refused the request: {_words_of(error)}", "request", error) from error
    except (
        ValueError,
        AttributeError,
        RecursionError,
    ) as error:  # how ChatOpenAI fails on what is none
        raise _unavailable("the model's server answered something unreadable", "failed", error) from error


def _unavailable(detail: str, reason: str, error: Exception) -> ModelUnavailable:
    _log.warning("model: %s (%s)", detail, _words_of(error))
    return ModelUnavailable(detail, reason=reason)


def _refused(detail: str, reason: str, error: Exception) -> ModelRefused:
    _log.warning("model: %s (%s)", detail, _words_of(error))
    return ModelRefused(detail, reason=reason)


def _words_of(error: Exception) -> str:
    """What the server said, in one line without keys. What is not formed like OpenAI's errors is only in its body."""
    body = getattr(error, "body", None)
    response = getattr(error, "response", None)
    said = body.get("message") if isinstance(body, dict) else None
    words = str(said or (response.text if response is not None else "") or error)
    return _KEY.sub("…", " ".join(words.split()))[:_MAX_WORDS]


def _refusals() -> tuple[type[Exception], ...]:
    # OpenAI's own errors are included only if its client is loaded: importing it takes a second.
    openai = sys.modules.get("openai")
    return (AnyModelError, openai.APIError) if openai else (AnyModelError,)


def _checked(answer: AIMessageChunk | None) -> AIMessage:
    """The whole message, or the error that a filtered or cut-off answer stands for."""
    finish = answer.response_metadata.get("finish_reason") if answer else None
    if finish == "content_filter":
        raise ModelRefused("the provider's content filter stopped the answer: rephrase the message")
    if finish == CUT and not (answer and (answer.text or answer.tool_calls)):
        raise AnswerTooLong("the model's answer does not end: it thinks, or calls a tool, for longer than is read")
    if finish == "length" and not (answer and (answer.text or answer.tool_calls)):
        raise ModelRefused("the model's thoughts used up its output limit: raise SOULGRAPH_LLM_MAX_TOKENS")
    if answer is None:
        return AIMessage("")
    if answer.tool_calls and finish == "length":
        fix = "raise its output limit, SOULGRAPH_LLM_MAX_TOKENS"
        raise ModelUnavailable(f"the model's answer was cut off inside a tool call: {fix}", False)
    return AIMessage(answer.content, tool_calls=answer.tool_calls, usage_metadata=answer.usage_metadata)
