"""The templates of Home Assistant, as far as devices use them to name a field or to wrap a command.

What is more than that is a program, which only Home Assistant can run: then there is no template here.
"""

import re
from dataclasses import dataclass
from typing import Any, Self

from pydantic_core import from_json

_VALUE = re.compile(r"\{\{\s*value\s*\}\}")
_PATH = re.compile(r"\{\{\s*value_json((?:\.\w+|\[\s*(?:'[^'{}]*'|\"[^\"{}]*\")\s*\])+)\s*\}\}")
_STEP = re.compile(r"\.(\w+)|\[\s*['\"]([^'\"]*)['\"]\s*\]")


@dataclass(frozen=True, slots=True)
class ValueTemplate:
    """Takes the value of a message: all of it, or a field of its JSON."""

    path: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: Any) -> Self | None:
        """None for a template that cannot be read; nothing at all stands for the whole message."""
        if text is None or (isinstance(text, str) and _VALUE.fullmatch(text.strip())):
            return cls()
        found = _PATH.fullmatch(text.strip()) if isinstance(text, str) else None
        return cls(tuple(a or b for a, b in _STEP.findall(found[1]))) if found else None

    def value(self, payload: bytes) -> str | None:
        """None if the message does not have it."""
        if not self.path:
            return payload.decode(errors="replace")
        try:
            value = from_json(payload)
        except ValueError:
            return None
        for step in self.path:
            if not isinstance(value, dict) or step not in value:
                return None
            value = value[step]
        return None if value is None else str(value)


@dataclass(frozen=True, slots=True)
class CommandTemplate:
    """Wraps a command."""

    text: str = "{{ value }}"

    @classmethod
    def parse(cls, text: Any) -> Self | None:
        """None for a template that cannot be filled in."""
        if text is None:
            return cls()
        rest = _VALUE.sub("", text) if isinstance(text, str) else "{{"
        return None if "{{" in rest or "{%" in rest else cls(text)

    def filled(self, value: str) -> str:
        return _VALUE.sub(lambda _: value, self.text)
