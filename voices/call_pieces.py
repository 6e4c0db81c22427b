"""Puts the tool calls of a streamed answer together, and stops where nobody means them any more.

LangChain would read the arguments again with every piece, and mend broken ones in time that grows with their square.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk

from soulgraph.soul.validation import whole_characters

MAX_CALLS = 16
MAX_CALL_CHARS = 32_000
"""Of the name and the arguments of one call."""
_MAX_MENDED = 2000  # characters of broken arguments that LangChain may try to mend: 20 ms


@dataclass(slots=True)
class _Call:
    index: Any
    number: int
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)
    size: int = 0

    def continues_with(self, index: Any, call_id: str) -> bool:
        return bool(self.index == index and (not call_id or not self.id or call_id == self.id))

    def add(self, call_id: str, name: str, arguments: str) -> None:
        self.id = self.id or call_id
        self.name += name if name != self.name else ""  # some servers repeat it with every piece
        self.pieces.append(arguments)
        self.size += len(name) + len(arguments)

    @property
    def is_whole(self) -> bool:
        try:
            json.loads("".join(self.pieces) or "{}", strict=False)
        except (ValueError, RecursionError):
            return False
        return True

    @property
    def is_usable(self) -> bool:
        return bool(self.name) and (self.size <= _MAX_MENDED or self.is_whole)

    def chunk(self) -> ToolCallChunk:
        return tool_call_chunk(name=self.name, args="".join(self.pieces), id=self.id, index=self.number)


class CallPieces:
    """`full` once a call is too long, which is dropped, or there are too many, of which the first are kept."""

    def __init__(self) -> None:
        self.full = False
        self._open: list[_Call] = []
        self._begun = 0
        self._has_news = False
        self._ids: set[str] = set()

    def feed(self, pieces: Iterable[Mapping[str, Any]]) -> None:
        for piece in pieces:
            function = piece["function"]
            texts = _text(piece.get("id")), _text(function.get("name")), _text(function.get("arguments"))
            if any(texts) and not self.full:
                self._add(piece["index"], *texts)

    def take_whole(self) -> list[ToolCallChunk]:
        """The calls that need nothing more."""
        if not self._has_news:
            return []
        self._has_news = False
        whole = [call for call in self._open if call.name and call.is_whole]
        self._open = [call for call in self._open if call not in whole]
        return self._chunks(whole)

    def rest(self) -> list[ToolCallChunk]:
        """The calls that were still open when the answer ended."""
        calls, self._open = self._open, []
        return self._chunks(call for call in calls if call.is_usable)

    def _chunks(self, calls: Iterable[_Call]) -> list[ToolCallChunk]:
        """Each with an id of its own, by which its result is known."""
        chunks = []
        for call in calls:
            call.id = call.id if call.id and call.id not in self._ids else f"call_{uuid4().hex}"
            self._ids.add(call.id)
            chunks.append(call.chunk())
        return chunks

    def _add(self, index: Any, call_id: str, name: str, arguments: str) -> None:
        call = next((call for call in reversed(self._open) if call.continues_with(index, call_id)), None)
        call = call or self._begin(index)
        if call is None:
            return
        call.add(call_id, name, arguments)
        self._has_news = True
        if call.size > MAX_CALL_CHARS:
            self._open.remove(call)
            self.full = True

    def _begin(self, index: Any) -> _Call | None:
        if self._begun == MAX_CALLS:
            self.full = True
            return None
        self._begun += 1
        self._open.append(_Call(index, self._begun))
        return self._open[-1]


def _text(value: Any) -> str:
    """A text as it is; some servers send the arguments as the object itself."""
    if isinstance(value, dict):
        return json.dumps(value)
    return whole_characters(value) if isinstance(value, str) else ""
