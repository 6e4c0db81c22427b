"""OpenAI's completions with streams of plain data.

LangChain would make it of the client's objects, with a warning for every field that is not of its type.
"""

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any, Self

from pydantic import BaseModel


class PlainCompletions:
    """All that the completions of an `AsyncOpenAI` have; only what `create` streams is plain."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._completions, name)

    async def create(self, **payload: Any) -> Any:
        answer = await self._completions.create(**payload)
        return _PlainStream(answer) if payload.get("stream") else answer


class _PlainStream:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stream.__aexit__(kind, error, trace)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for chunk in self._stream:
            yield dumped(chunk)


def dumped(part: Any) -> Any:
    return part.model_dump(warnings=False) if isinstance(part, BaseModel) else part
