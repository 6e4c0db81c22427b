"""Lore: what a world or a character knows about a thing, told when the conversation touches on it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from soulgraph.errors import InvalidInput

RECENT = 6
"""How many of the last messages can call an entry."""

_Key = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
_HAN = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_HAN = re.compile(f"[{_HAN}]")
_LETTER = rf"[^\W{_HAN}]"


class Lore(BaseModel):
    """`constant` entries are always told; the others when one of their keys was said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, StringConstraints(pattern=r"^[\w.:@-]{1,128}$")]
    keys: Annotated[tuple[_Key, ...], Field(max_length=50)] = ()
    content: Annotated[str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True)]
    enabled: bool = True
    priority: Annotated[int, Field(ge=0, le=1000)] = 50
    constant: bool = False


_BOOK = TypeAdapter(list[Lore])


def lore_of(preset: Mapping[str, Any]) -> list[Lore]:
    """The entries under a preset's `lore`, checked."""
    try:
        return _BOOK.validate_python(preset.get("lore", []))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in ("lore", *first["loc"]))
        raise InvalidInput(f"{where}: {first['msg']}") from error


def touched(entries: Iterable[Lore], said: Sequence[str], limit: int) -> list[Lore]:
    """The entries the last messages call, the highest priority first, as far as they fit."""
    text = "\n".join(said[-RECENT:]).casefold()
    called = [entry for entry in entries if entry.enabled and (entry.constant or _called(entry, text))]
    told = []
    for entry in sorted(called, key=lambda entry: (-entry.priority, entry.id)):
        if len(entry.content) <= limit:
            limit -= len(entry.content)
            told.append(entry)
    return told


def _called(entry: Lore, text: str) -> bool:
    return any(_said(key.casefold(), text) for key in entry.keys)


def _said(key: str, text: str) -> bool:
    """Chinese has no word borders to look for; other words must stand alone, also between Chinese ones."""
    if key not in text:
        return False
    if _IS_HAN.search(key):
        return True
    return re.search(rf"(?<!{_LETTER}){re.escape(key)}(?!{_LETTER})", text) is not None
