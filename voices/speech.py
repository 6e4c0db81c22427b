"""One model call: the narrative is shown while it streams, and failures become ours."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import httpx2
from langchain_core.exceptions import (
    ModelAPIError,
    ModelConnectionError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.exceptions import ModelError as AnyModelError
from langchain_core.language_models import LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage
from langchain_core.runnables import Runnable
from openai import APIError

from soulgraph.errors import ModelRefused, ModelTimeout, ModelUnavailable
from soulgraph.prompts.contract import NarrativeStream

Show = Callable[[str], None]


async def speak(
    speaker: Runnable[LanguageModelInput, AIMessage], messages: Sequence[AnyMessage], show: Show
) -> AIMessage:
    """Stream one answer; `show` gets its narrative piece by piece."""
    narrative = NarrativeStream()
    answer: AIMessageChunk | None = None
    with _our_errors() as failure:
        async for chunk in speaker.astream(list(messages)):
            assert isinstance(chunk, AIMessageChunk)
            answer = chunk if answer is None else answer + chunk
            if text := narrative.feed(chunk.text):
                failure.repeatable = False
                show(text)
    if answer is None:
        raise ModelUnavailable("the model closed the stream without a word: try again")
    return _accepted(answer)


def _accepted(answer: AIMessageChunk) -> AIMessage:
    if refusal := answer.additional_kwargs.get("refusal"):
        raise ModelRefused(f"the model refused: {refusal}")
    if answer.response_metadata.get("finish_reason") == "content_filter":
        raise ModelRefused("the provider's content filter stopped the answer: rephrase the message")
    return AIMessage(answer.content, tool_calls=answer.tool_calls, usage_metadata=answer.usage_metadata)


def worth_retrying(error: Exception) -> bool:
    """Only a model that could not be reached, and only while nobody has seen a word of its answer."""
    return isinstance(error, ModelUnavailable) and error.repeatable


class _Failure:
    repeatable = True


@contextmanager
def _our_errors() -> Iterator[_Failure]:
    failure = _Failure()
    try:
        yield failure
    except (ModelTimeoutError, httpx2.TimeoutException, TimeoutError) as error:
        raise ModelTimeout(
            f"the model was silent for too long ({error}): try again, or raise SOULGRAPH_LLM_TIMEOUT_S"
        ) from error
    except (ModelConnectionError, ModelRateLimitError, ModelAPIError, httpx2.TransportError) as error:
        raise ModelUnavailable(f"the model cannot be reached: {error}", repeatable=failure.repeatable) from error
    except (AnyModelError, APIError) as error:
        raise ModelRefused(f"the model's server refused the request: {error}") from error
