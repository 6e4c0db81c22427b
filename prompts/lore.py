"""Lore: what a world or a character knows about a thing, told when the conversation touches on it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from soulgraph.errors import InvalidInput
from soulgraph.prompts.budget import cut
from soulgraph.senses.intents.patterns import RegexBudget, compiled
from soulgraph.soul.validation import explain

RECENT = 6
"""How many of the last messages can call an entry."""

_MAX_PATTERNS = 8
_REACH = 4000
"""Characters of the last messages that a pattern gets to see."""

_Key = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
_Keys = Annotated[tuple[_Key, ...], Field(max_length=50)]
_HAN = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_HAN = re.compile(f"[{_HAN}]")
_LETTER = rf"[^\W{_HAN}]"


class Lore(BaseModel):
    """`constant` entries are always told; the others when one of their keys was said, and one of the secondary ones."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, StringConstraints(pattern=r"^[\w.:@-]{1,128}$")]
    keys: _Keys = ()
    secondary_keys: _Keys = ()
    use_regex: bool = Field(False, description="the keys are regular expressions")
    content: Annotated[str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True)]
    enabled: bool = True
    priority: Annotated[int, Field(ge=0, le=1000)] = 50
    constant: bool = False

    @model_validator(mode="after")
    def _bearable(self) -> Self:
        if self.use_regex and len(self.keys) > _MAX_PATTERNS:
            raise ValueError(f"keys: at most {_MAX_PATTERNS} of them may be regular expressions")
        for key in self.keys if self.use_regex else ():
            compiled(key)
        return self


_BOOK = TypeAdapter(list[Lore])


def lore_of(preset: Mapping[str, Any]) -> list[Lore]:
    """The entries under a preset's `lore`, checked."""
    try:
        return _BOOK.validate_python(preset.get("lore", []))
    except ValidationError as error:
        raise InvalidInput(explain(error, within="lore")) from error


def touched(entries: Iterable[Lore], said: Sequence[str], limit: int) -> list[Lore]:
    """The entries the last messages call, the highest priority first, as far as they fit."""
    talk, patience, left = "\n".join(said[-RECENT:]), RegexBudget(reach=_REACH), limit
    text = talk.casefold()
    called = [entry for entry in entries if entry.enabled and _called(entry, talk, text, patience)]
    told = []
    for entry in sorted(called, key=lambda entry: (-entry.priority, entry.id)):
        # What could never be told whole is told in part; what merely comes too late waits.
        content = cut(entry.content, left) if len(entry.content) > limit else entry.content
        if content and len(content) <= left:
            left -= len(content)
            told.append(entry.model_copy(update={"content": content}))
    return told


def _called(entry: Lore, talk: str, text: str, patience: RegexBudget) -> bool:
    if entry.constant:
        return True
    if entry.use_regex:
        return any(patience.search(key, talk[-_REACH:]) for key in entry.keys)
    return _any_said(entry.keys, text) and (not entry.secondary_keys or _any_said(entry.secondary_keys, text))


def _any_said(keys: Iterable[str], text: str) -> bool:
    return any(_said(key.casefold(), text) for key in keys)


def _said(key: str, text: str) -> bool:
    """Chinese has no word borders to look for; other words must stand alone, also between Chinese ones."""
    if key not in text:
        return False
    if _IS_HAN.search(key):
        return True
    return re.search(rf"(?<!{_LETTER}){re.escape(key)}(?!{_LETTER})", text) is not None
