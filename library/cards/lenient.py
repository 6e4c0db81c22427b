"""Types for files that others wrote: a value of another kind is understood as far as it goes, and a note says so."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo

Json = dict[str, Any]

_KEY = re.compile(
    r"\s*(/(?:[^/\\\n]++|\\.)+/[dgimsuvy]*+(?=\s*(?:[,，、;；\n]|\Z))|[^,，、;；\n]*+)(?:[,，、;；\n]|\Z)"
)
"""One of several keys in a text; a pattern between slashes may have commas inside."""
_WIDE = re.compile("[，、；]")
_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off", ""})
_LARGEST = 1e9


@dataclass(slots=True)
class Oddities:
    """The fields whose values were of another kind, with how often. It is the context of a validation."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def notes(self) -> list[str]:
        return [f"{what} ({n} times)" if n > 1 else what for what, n in self.counts.items()]


def _note(info: ValidationInfo, what: str) -> None:
    if isinstance(info.context, Oddities):
        info.context.add(f"{info.field_name}: {what}")


def _text(value: Any, info: ValidationInfo) -> str:
    if isinstance(value, str):
        return value
    if value is None or value is False or value in ([], {}):
        return ""
    words = _words(value)
    if words is None:
        _note(info, "is no text, and is left out")
        return ""
    _note(info, f"is no text but a {_kind(value)}, and was read as one")
    return words


def _words(value: Any) -> str | None:
    """A number or a list of texts as a text; None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list):
        parts = [words for part in value if (words := _words(part)) is not None]
        return "\n".join(parts) if parts else None
    return None


def _kind(value: Any) -> str:
    return "list" if isinstance(value, list) else "number"


def _texts(value: Any, info: ValidationInfo) -> list[str]:
    if value is None or value is False:
        return []
    if isinstance(value, str):
        if value.strip():
            _note(info, "is no list but a text, and was read as its only item")
        return [value]
    if isinstance(value, list):
        return [_text(item, info) for item in value]
    if value:
        _note(info, "is no list, and is left out")
    return []


def _keys(value: Any, info: ValidationInfo) -> list[str]:
    """Old programs write keys as one text with commas; people write commas of full width into lists, too."""
    if isinstance(value, str):
        return split_keys(value)
    return [key for text in _texts(value, info) for key in ([text] if text.strip()[:1] == "/" else _WIDE.split(text))]


def split_keys(text: str) -> list[str]:
    return [key for match in _KEY.finditer(text) if (key := match[1].strip())]


def _flag(default: bool) -> Callable[[Any, ValidationInfo], bool]:
    def convert(value: Any, info: ValidationInfo) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            return bool(value)
        word = value.strip().lower() if isinstance(value, str) else None
        if word in _TRUE or word in _FALSE:
            return word in _TRUE
        if value is not None:
            _note(info, f"is neither true nor false, and was read as {str(default).lower()}")
        return default

    return convert


def _number(value: Any, info: ValidationInfo) -> float | None:
    number = number_in(value)
    if number is None and value is not None and value != "":
        _note(info, "is no number, and is left out")
    return None if number is None else max(-_LARGEST, min(number, _LARGEST))


def number_in(value: Any) -> float | None:
    """The number that a value is or tells; None if it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, int):
        return float(max(-_LARGEST, min(value, _LARGEST)))
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _object(value: Any, info: ValidationInfo) -> Json:
    if isinstance(value, dict):
        return value
    if value:
        _note(info, "is no object, and is left out")
    return {}


def _objects(value: Any, info: ValidationInfo) -> list[Any]:
    """The objects of a list, or of an object that is numbered like a list."""
    listed = [*value.values()] if isinstance(value, dict) else value
    if isinstance(listed, list):
        return [item if isinstance(item, dict) else {} for item in listed]
    if value:
        _note(info, "is no list, and is left out")
    return []


OBJECT = BeforeValidator(_object)
OBJECTS = BeforeValidator(_objects)
Text = Annotated[str, BeforeValidator(_text)]
Texts = Annotated[list[str], BeforeValidator(_texts)]
Keys = Annotated[list[str], BeforeValidator(_keys)]
Flag = Annotated[bool, BeforeValidator(_flag(False))]
FlagOn = Annotated[bool, BeforeValidator(_flag(True))]
Number = Annotated[float | None, BeforeValidator(_number)]
Extensions = Annotated[Json, OBJECT]
