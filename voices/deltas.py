"""Pieces of an answer as LangChain's chunks: one by one, or many of them as one."""

from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from soulgraph.voices.wire import Delta

_PROVIDER = {"model_provider": "openai"}
_READ = {"audio": "audio_tokens", "cache_read": "cached_tokens", "cache_creation": "cache_write_tokens"}
_WRITTEN = {"audio": "audio_tokens", "reasoning": "reasoning_tokens"}
"""How LangChain calls what servers count."""


class Collected:
    """Deltas that become one chunk; the first has been passed on by itself."""

    def __init__(self) -> None:
        self.begun = False
        self._texts: list[str] = []
        self._calls: list[ToolCallChunk] = []
        self._info: dict[str, Any] = {}
        self._usage: dict[str, Any] | None = None

    def add(self, delta: Delta) -> None:
        if not self.begun:
            self.begun = True
            return
        self._texts.append(delta.text)
        self._calls.extend(delta.calls)
        self._info |= delta.info or {}
        self._usage = delta.usage or self._usage

    def rest(self) -> ChatGenerationChunk | None:
        """All but the first, if there is any."""
        if not self._texts:
            return None
        return chunk_of(Delta("".join(self._texts), self._calls, self._info or None, self._usage))


def chunk_of(delta: Delta) -> ChatGenerationChunk:
    message = AIMessageChunk(
        content=delta.text,
        tool_call_chunks=list(delta.calls),
        usage_metadata=_usage_metadata(delta.usage) if delta.usage else None,
        response_metadata=dict(_PROVIDER),
    )
    return ChatGenerationChunk(message=message, generation_info=delta.info)


def whole_chunk(result: ChatResult) -> ChatGenerationChunk:
    """An answer that came at once, as the only chunk of a stream."""
    generation = result.generations[0]
    message = generation.message
    assert isinstance(message, AIMessage)
    fields = message.model_dump(exclude={"type"})
    return ChatGenerationChunk(message=AIMessageChunk(**fields), generation_info=generation.generation_info)


def _usage_metadata(usage: dict[str, Any]) -> UsageMetadata:
    read, written = usage["prompt_tokens_details"], usage["completion_tokens_details"]
    return UsageMetadata(
        input_tokens=usage["prompt_tokens"],
        output_tokens=usage["completion_tokens"],
        total_tokens=usage["total_tokens"],
        input_token_details=cast(InputTokenDetails, _renamed(read, _READ)),
        output_token_details=cast(OutputTokenDetails, _renamed(written, _WRITTEN)),
    )


def _renamed(counts: dict[str, int], names: dict[str, str]) -> dict[str, int]:
    return {name: counts[key] for name, key in names.items() if key in counts}
