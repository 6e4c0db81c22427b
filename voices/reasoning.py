"""What a reasoning model thinks: hidden from everybody, and given back to the server that asks for it."""

from collections import OrderedDict
from typing import Any

_OPEN, _CLOSE = "<think>", "</think>"
_FIELDS = ("reasoning_content", "reasoning")
_KEPT_ANSWERS = 64


class ThoughtFilter:
    """Takes the text of one answer piece by piece and returns it without `<think>…</think>`.

    Templates of some models open the thought in the prompt, so that the answer only closes it. Nothing in the first
    such answer tells that from plain text; `starts_inside` says that the model is known to do so.
    """

    def __init__(self, starts_inside: bool = False) -> None:
        self._inside = self._assumed = starts_inside
        self._buffer = ""
        self._after_thought = False
        self.closed_unopened = False
        """Whether a thought ended that had not begun."""

    def feed(self, text: str) -> str:
        if not self._buffer and not self._inside and not self._after_thought and "<" not in text:
            return text
        self._buffer += text
        shown = ""
        while (piece := self._next_piece()) is not None:
            shown += piece
        return self._trimmed(shown)

    def rest(self) -> str:
        """What was held back and is no thought after all, once the answer has ended."""
        text = self._buffer if not self._inside or self._assumed else ""
        self._buffer = ""
        return self._trimmed(text)

    def _next_piece(self) -> str | None:
        """The next text outside of thoughts; None if the buffer needs more to tell."""
        tag = _CLOSE if self._inside else self._next_tag()
        before, found, after = self._buffer.partition(tag)
        if not found:
            return self._safe_piece()
        self.closed_unopened |= tag == _CLOSE and (self._assumed or not self._inside)
        shown = "" if tag == _CLOSE else before
        self._inside = tag == _OPEN
        self._assumed = False
        self._after_thought |= tag == _CLOSE
        self._buffer = after
        return shown

    def _next_tag(self) -> str:
        """Outside of a thought: whichever tag comes first. A closing one means that all before it was thought."""
        opened, closed = self._buffer.find(_OPEN), self._buffer.find(_CLOSE)
        return _CLOSE if closed >= 0 and (opened < 0 or closed < opened) else _OPEN

    def _safe_piece(self) -> str | None:
        """Everything but what may be the beginning of a tag; inside a thought, nothing."""
        if self._inside:
            if not self._assumed:
                self._buffer = self._buffer[-len(_CLOSE) :]
            return None
        start = self._buffer.rfind("<")
        held = self._buffer[start:] if start >= 0 else ""
        if not held or not any(tag.startswith(held) for tag in (_OPEN, _CLOSE)):
            held = ""
        shown = self._buffer[: len(self._buffer) - len(held)]
        self._buffer = held
        return shown or None

    def _trimmed(self, text: str) -> str:
        """The answer proper begins after the empty lines that follow a thought."""
        if self._after_thought and text:
            text = text.lstrip()
            self._after_thought = not text
        return text


class ReasoningEcho:
    """Remembers what was thought before a tool was called: DeepSeek refuses the tool's result without it.

    It lives here and not in the messages, so that it can neither be shown nor stored.
    """

    def __init__(self) -> None:
        self._thoughts: OrderedDict[str, dict[str, str]] = OrderedDict()
        self._answer_of_call: OrderedDict[str, str] = OrderedDict()

    def note(self, answer_id: Any, delta: Any) -> None:
        """Take in a piece of an answer, or a whole one."""
        if not isinstance(delta, dict) or not isinstance(answer_id, str):
            return
        for field in _FIELDS:
            if isinstance(thought := delta.get(field), str) and thought:
                fields = self._thoughts.setdefault(answer_id, {})
                fields[field] = fields.get(field, "") + thought
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
                return self._thoughts.get(answer_id, {})
        return {}
