"""One model call: the narrative is shown while it streams, and failures become ours."""

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

_UNSEEN: RunnableConfig = {"run_name": "voice", "tags": [TAG_NOSTREAM]}
"""What the model writes is for us to read: a parent's stream of messages shows the narrative alone."""


async def speak(
    speaker: Runnable[LanguageModelInput, AIMessage], messages: Sequence[AnyMessage], show: Callable[[str], None]
) -> AIMessage:
    """Stream one answer; `show` gets its narrative piece by piece."""
    narrative, shown = NarrativeStream(), False
    chunks: list[AIMessageChunk] = []
    try:
        with translate_model_errors():
            async for chunk in speaker.astream(list(messages), _UNSEEN):
                assert isinstance(chunk, AIMessageChunk)
                chunks.append(chunk)
                if text := narrative.feed(chunk.text):
                    shown = True
                    show(text)
    except ModelUnavailable as error:
        error.repeatable = not shown
        raise
    return _accepted(add_ai_message_chunks(*chunks) if chunks else None)


def worth_retrying(error: Exception) -> bool:
    """Only a model that could not be reached, and only while nobody has seen a word of its answer."""
    return isinstance(error, ModelUnavailable) and error.repeatable


@contextmanager
def translate_model_errors() -> Iterator[None]:
    """Whatever a chat model raises, as one of model_timeout, model_unavailable and model_refused."""
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
    """OpenAI's own errors too, but only where its client is used: importing it takes a second."""
    openai = sys.modules.get("openai")
    return (AnyModelError, openai.APIError) if openai else (AnyModelError,)


def _accepted(answer: AIMessageChunk | None) -> AIMessage:
    finish = answer.response_metadata.get("finish_reason") if answer else None
    if finish == "content_filter":
        raise ModelRefused("the provider's content filter stopped the answer: rephrase the message")
    if answer is None or not (answer.text or answer.tool_calls):
        raise ModelRefused("the model answered with nothing, which is how a refusal arrives in a stream")
    if answer.tool_calls and finish == "length":
        raise ModelUnavailable("the model's answer was cut off inside a tool call: raise its output limit", False)
    return AIMessage(answer.content, tool_calls=answer.tool_calls, usage_metadata=answer.usage_metadata)
