"""What a reasoning model thinks: hidden from everybody, and given back to the server that asks for it."""

import re
from collections import OrderedDict
from typing import Any

_OPEN, _CLOSE = "<think>", "</think>"
_TAGS, _CLOSING = re.compile(f"{_OPEN}|{_CLOSE}"), re.compile(_CLOSE)
_FIELDS = ("reasoning_content", "reasoning")
_KEPT_ANSWERS = 64
_MAX_THOUGHT = 400_000  # characters of one answer's thoughts that are kept


class ThoughtFilter:
    """Takes the text of one answer piece by piece and returns it without `<think>…</think>`.

    Templates of some models open the thought in the prompt, so that the answer only closes it. Nothing in the first
    such answer tells that from plain text; `starts_inside` says that the model is known to do so.
    """

    def __init__(self, starts_inside: bool = False) -> None:
        self._inside = self._assumed = starts_inside
        self._buffer = ""
        self._searched = 0  # characters of the buffer in which no tag begins
        self._after_thought = False
        self.closed_unopened = False
        """Whether a thought ended that had not begun."""

    def feed(self, text: str) -> str:
        if not self._buffer and not self._inside and not self._after_thought and "<" not in text:
            return text
        self._buffer += text
        shown, begin = "", 0
        while tag := self._next_tag(max(begin, self._searched)):
            shown += self._leave(tag, self._buffer[begin : tag.start()])
            begin = tag.end()
        self._buffer = self._buffer[begin:]
        self._searched = 0
        return self._trimmed(shown + self._safe_piece())

    def rest(self) -> str:
        """What was held back and is no thought after all, once the answer has ended."""
        text = self._buffer if not self._inside or self._assumed else ""
        self._buffer = ""
        return self._trimmed(text)

    def _next_tag(self, begin: int) -> re.Match[str] | None:
        """Outside of a thought whichever comes first: a closing one means that all before it was thought."""
        return (_CLOSING if self._inside else _TAGS).search(self._buffer, begin)

    def _leave(self, tag: re.Match[str], before: str) -> str:
        """Go on behind the tag; returns what is shown of the text before it."""
        closes = tag[0] == _CLOSE
        self.closed_unopened |= closes and (self._assumed or not self._inside)
        self._inside = not closes
        self._assumed = False
        self._after_thought |= closes
        return "" if closes else before

    def _safe_piece(self) -> str:
        """Everything but what may be the beginning of a tag; inside a thought, nothing."""
        if self._inside:
            if not self._assumed:
                self._buffer = self._buffer[-len(_CLOSE) :]
            self._searched = max(0, len(self._buffer) - len(_CLOSE))
            return ""
        start = self._buffer.rfind("<")
        held = self._buffer[start:] if start >= 0 else ""
        if not held or not any(tag.startswith(held) for tag in (_OPEN, _CLOSE)):
            held = ""
        shown = self._buffer[: len(self._buffer) - len(held)]
        self._buffer = held
        return shown

    def _trimmed(self, text: str) -> str:
        """The answer proper begins after the empty lines that follow a thought."""
        if self._after_thought and text:
            text = text.lstrip()
            self._after_thought = not text
        return text


class _Thought:
    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._left = _MAX_THOUGHT

    def add(self, piece: str) -> None:
        if self._left > 0:
            self._pieces.append(piece[: self._left])
            self._left -= len(piece)

    @property
    def text(self) -> str:
        return "".join(self._pieces)


class ReasoningEcho:
    """Remembers what was thought before a tool was called: DeepSeek refuses the tool's result without it.

    It lives here and not in the messages, so that it can neither be shown nor stored.
    """

    def __init__(self) -> None:
        self._thoughts: OrderedDict[str, dict[str, _Thought]] = OrderedDict()
        self._answer_of_call: OrderedDict[str, str] = OrderedDict()

    def note(self, answer_id: Any, delta: Any) -> None:
        """Take in a piece of an answer, or a whole one."""
        if not isinstance(delta, dict) or not isinstance(answer_id, str):
            return
        for field in _FIELDS:
            if isinstance(thought := delta.get(field), str) and thought:
                self._thoughts.setdefault(answer_id, {}).setdefault(field, _Thought()).add(thought)
        for call in delta.get("tool_calls") or ():
            if isinstance(call, dict) and call.get("id") and answer_id in self._thoughts:
                self._answer_of_call[call["id"]] = answer_id
        while len(self._thoughts) > _KEPT_ANSWERS:
            self._thoughts.popitem(last=False)
        while len(self._answer_of_call) > _KEPT_ANSWERS:
            self._answer_of_call.popitem(last=False)

    def attach(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The messages of a request, those that called tools with the thoughts that led to it."""
        return [{**message, **self._thought_of(message)} for message in messages] if self._answer_of_call else messages

    def _thought_of(self, message: dict[str, Any]) -> dict[str, str]:
        for call in message.get("tool_calls") or ():
            if answer_id := self._answer_of_call.get(call.get("id")):
                fields = self._thoughts.get(answer_id, {})
                return {field: thought.text for field, thought in fields.items()}
        return {}
