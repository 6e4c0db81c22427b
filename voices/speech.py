"""One streamed model call of a turn: shows the narrative as it arrives, and translates the model's errors."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from langchain_core.exceptions import ModelAPIError, ModelConnectionError, ModelRateLimitError, ModelTimeoutError
from langchain_core.exceptions import ModelError as AnyModelError
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage
from langchain_core.messages.ai import add_ai_message_chunks
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.constants import TAG_NOSTREAM

from soulgraph.errors import ModelRefused, ModelTimeout, ModelUnavailable
from soulgraph.prompts.contract import NarrativeStream

_HIDDEN: RunnableConfig = {"run_name": "voice", "tags": [TAG_NOSTREAM]}
"""Keeps the raw tokens out of the graph's message stream: only the narrative may be shown."""


async def speak(
    speaker: Runnable[LanguageModelInput, AIMessage], messages: Sequence[AnyMessage], show: Callable[[str], None]
) -> AIMessage:
    """Stream one answer and return it whole; `show` gets its narrative piece by piece."""
    narrative = NarrativeStream()
    shown = False
    chunks: list[AIMessageChunk] = []
    try:
        with translate_model_errors():
            async for chunk in speaker.astream(list(messages), _HIDDEN):
                assert isinstance(chunk, AIMessageChunk)
                chunks.append(chunk)
                if text := narrative.feed(chunk.text):
                    shown = True
                    show(text)
    except ModelUnavailable as error:
        error.repeatable = not shown  # a retry would repeat what the user has read already
        raise
    return _checked(add_ai_message_chunks(*chunks) if chunks else None)


def worth_retrying(error: Exception) -> bool:
    """True if the model could not be reached and nothing of its answer has been shown yet."""
    return isinstance(error, ModelUnavailable) and error.repeatable


@contextmanager
def translate_model_errors() -> Iterator[None]:
    """Raise whatever a chat model raises as ModelTimeout, ModelUnavailable or ModelRefused."""
    try:
        yield
    except (ModelTimeoutError, TimeoutError) as error:
        raise ModelTimeout(f"the model was silent for too long ({error}): raise SOULGRAPH_LLM_TIMEOUT_S") from error
    except (ModelConnectionError, ModelRateLimitError, ModelAPIError) as error:
        raise ModelUnavailable(f"the model cannot be reached or is overloaded: {error}") from error
    except _refusals() as error:
        raise ModelRefused(f"the model's server refused the request: {error}") from error
    except (ValueError, AttributeError) as error:  # how ChatOpenAI fails on bytes that are no completion
        raise ModelUnavailable(f"the model's server answered something unreadable: {error}") from error


def _refusals() -> tuple[type[Exception], ...]:
    # OpenAI's own errors are included only if its client is loaded: importing it takes a second.
    openai = sys.modules.get("openai")
    return (AnyModelError, openai.APIError) if openai else (AnyModelError,)


def _checked(answer: AIMessageChunk | None) -> AIMessage:
    """The whole message, or the error that an empty, filtered or cut-off answer stands for."""
    finish = answer.response_metadata.get("finish_reason") if answer else None
    if finish == "content_filter":
        raise ModelRefused("the provider's content filter stopped the answer: rephrase the message")
    if answer is None or not (answer.text or answer.tool_calls):
        raise ModelRefused("the model answered with nothing, which is how a refusal arrives in a stream")
    if answer.tool_calls and finish == "length":
        raise ModelUnavailable("the model's answer was cut off inside a tool call: raise its output limit", False)
    return AIMessage(answer.content, tool_calls=answer.tool_calls, usage_metadata=answer.usage_metadata)
