"""What is read of a chat, whatever program it comes from, and what was left out of it."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Literal

Program = Literal["chatgpt", "claude", "sillytavern", "openclaw"]
Reason = Literal["machinery", "unreadable", "unknown_file", "unused_file", "cut"]

MAX_CONTENT = 32_000
"""Characters of a message that are kept."""
_MAX_TITLE, _MAX_OWN_TITLE = 40, 200
_SURROGATE = re.compile("[\ud800-\udfff]")

_SENTENCES: dict[Reason, str] = {
    "machinery": "{n} left out that nobody said: texts of the program, tools, thoughts",
    "unreadable": "{n} left out that could not be read: their shape is not known, or they are damaged",
    "unknown_file": "{n} files left out that are no chats",
    "unused_file": "{n} files left out that say how to work there, which has no place here",
    "cut": "{n} messages cut: of each the first " + f"{MAX_CONTENT:,} characters are kept",
}


def storable(text: str) -> str:
    """The text as every database can store it."""
    return _SURROGATE.sub("\ufffd", text.replace("\0", "")).strip()


@dataclass(frozen=True, slots=True)
class Line:
    """Something that was said; `at` is None if the file does not tell when."""

    role: Literal["user", "assistant"]
    content: str
    at: float | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """`id` tells it from the others of its program; its lines are read while they are iterated, once."""

    program: Program
    id: str
    title: str
    created_at: float | None
    lines: Iterator[Line]

    def titled(self, first: Line) -> str:
        """Its title, or the first words of its first line."""
        return storable(self.title)[:_MAX_OWN_TITLE] or first.content.partition("\n")[0][:_MAX_TITLE]

    def key(self, first: Line) -> str:
        """Its id; without one, what tells it from others."""
        return storable(self.id) or blake2b(f"{first.at} {first.content}".encode(), digest_size=8).hexdigest()

    def began(self, first: Line) -> float | None:
        return first.at if self.created_at is None else self.created_at


@dataclass(frozen=True, slots=True)
class SoulText:
    """A file that says who the soul is or whom it talks to, like `SOUL.md`."""

    name: str
    content: bytes


@dataclass(slots=True)
class Notes:
    """Counts what is left out or changed; of each reason one example is kept."""

    counts: Counter[Reason] = field(default_factory=Counter)
    examples: dict[Reason, str] = field(default_factory=dict)

    def add(self, reason: Reason, example: str = "") -> None:
        self.counts[reason] += 1
        if example:
            self.examples.setdefault(reason, example[:120])

    def entries(self) -> list[dict[str, str | int]]:
        """The same as `sentences`, for programs."""
        return [
            {"reason": reason, "count": self.counts[reason], "example": self.examples.get(reason, "")}
            for reason in _SENTENCES
            if self.counts[reason]
        ]

    def sentences(self) -> list[str]:
        return [self._sentence(reason) for reason in _SENTENCES if self.counts[reason]]

    def _sentence(self, reason: Reason) -> str:
        sentence = _SENTENCES[reason].format(n=f"{self.counts[reason]:,}")
        example = self.examples.get(reason)
        return f"{sentence}, like {example}" if example else sentence

    def clean(self, text: str) -> str:
        """The text as every database can store it, not longer than is kept."""
        text = storable(text)
        if len(text) > MAX_CONTENT:
            self.add("cut")
            text = text[:MAX_CONTENT].rstrip() + " …"
        return text
