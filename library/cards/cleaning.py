"""Takes out of a file's JSON what cannot be stored: control characters, halves of letters, endless numbers, depth."""

import math
import re
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 26
"""The library stores data 32 levels deep, and keeps a card some levels down in a character."""
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HALF = re.compile(r"[\ud800-\udfff]")
_NAMED = 3


@dataclass(slots=True)
class _Cleaning:
    """The places where something was taken out, by what it was."""

    places: dict[str, list[str]] = field(default_factory=dict)

    def value(self, value: Any, path: tuple[str, ...]) -> Any:
        """The value without what cannot be stored; recursion ends at `MAX_DEPTH`."""
        if isinstance(value, str):
            return self.text(value, path)
        if isinstance(value, float) and not math.isfinite(value):
            return self._took("numbers without end were left out", path)
        if isinstance(value, dict | list) and value and len(path) >= MAX_DEPTH:
            return self._took(f"what is nested more than {MAX_DEPTH} levels deep was left out", path)
        if isinstance(value, dict):
            return {self.text(key, path): self.value(inner, (*path, key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.value(inner, (*path, str(n))) for n, inner in enumerate(value)]
        return value

    def text(self, text: str, path: tuple[str, ...]) -> str:
        if text.isascii() and text.isprintable():
            return text
        kept = text
        if _HALF.search(text):
            kept = _HALF.sub("", text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore"))
        kept = _UNWANTED.sub("", kept)
        if kept != text:
            self._took("characters that cannot be stored were left out", path)
        return kept

    def _took(self, what: str, path: tuple[str, ...]) -> None:
        place = ".".join(path).encode("ascii", "ignore").decode() or "the file"
        self.places.setdefault(what, []).append(_UNWANTED.sub("", place)[:120])

    def notes(self) -> list[str]:
        return [f"{_listed(places)}: {what}" for what, places in self.places.items()]


def cleaned(data: Any) -> tuple[Any, list[str]]:
    """The data as it can be stored, and notes that say where something was left out."""
    cleaning = _Cleaning()
    return cleaning.value(data, ()), cleaning.notes()


def _listed(places: list[str]) -> str:
    more = len(places) - _NAMED
    return ", ".join(places[:_NAMED]) + (f" and {more} more" if more > 0 else "")
