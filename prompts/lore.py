"""Lore: entries about a world or a character that are added to the prompt when the conversation mentions them."""

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
from soulgraph.library.cards.limits import MAX_CONTENT, MAX_KEY, MAX_KEYS, MAX_PATTERNS
from soulgraph.prompts.budget import cut
from soulgraph.senses.intents.patterns import RegexBudget, compiled
from soulgraph.soul.validation import FLAG, NOT_BLANK, NUMBER, explain

RECENT_MESSAGES = 6
"""How many of the last messages are searched for keys."""

_REACH = 4000
"""Characters of the last messages that patterns are searched in."""

_Key = Annotated[str, StringConstraints(min_length=1, max_length=MAX_KEY, strip_whitespace=True), NOT_BLANK]
_Keys = Annotated[tuple[_Key, ...], Field(max_length=MAX_KEYS)]
_HAN = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_IS_HAN = re.compile(f"[{_HAN}]")
_LETTER = rf"[^\W{_HAN}]"


class Lore(BaseModel):
    """An entry is used if it is `constant`, or if one of its keys and one of its secondary keys, if any, were said."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, StringConstraints(pattern=r"^[\w.:@-]{1,128}$")]
    keys: _Keys = ()
    secondary_keys: _Keys = ()
    use_regex: bool = Field(False, strict=True, description="the keys are regular expressions")
    content: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CONTENT, strip_whitespace=True), NOT_BLANK]
    enabled: Annotated[bool, FLAG] = True
    priority: Annotated[int, Field(ge=0, le=1000), NUMBER] = 50
    constant: Annotated[bool, FLAG] = False

    @model_validator(mode="after")
    def _check_patterns(self) -> Self:
        if self.use_regex and len(self.keys) > MAX_PATTERNS:
            raise ValueError(f"keys: at most {MAX_PATTERNS} of them may be regular expressions")
        for key in self.keys if self.use_regex else ():
            compiled(key)
        return self


_BOOK = TypeAdapter(list[Lore])


def lore_of(preset: Mapping[str, Any]) -> list[Lore]:
    """The entries under a preset's `lore`; raises InvalidInput when one is wrong."""
    try:
        return _BOOK.validate_python(preset.get("lore", []))
    except ValidationError as error:
        raise InvalidInput(explain(error, within="lore")) from error


def triggered_entries(entries: Iterable[Lore], messages: Sequence[str], limit: int) -> list[Lore]:
    """The entries that the last messages trigger, the highest priority first, as many as fit into `limit`."""
    transcript = "\n".join(messages[-RECENT_MESSAGES:])
    budget = RegexBudget(reach=_REACH)
    text, left = transcript.casefold(), limit
    triggered = [entry for entry in entries if entry.enabled and _is_triggered(entry, transcript, text, budget)]
    chosen = []
    for entry in sorted(triggered, key=lambda entry: (-entry.priority, entry.id)):
        # An entry longer than the whole limit is cut; one that does not fit into the rest is skipped.
        content = cut(entry.content, left) if len(entry.content) > limit else entry.content
        if content and len(content) <= left:
            left -= len(content)
            chosen.append(entry.model_copy(update={"content": content}))
    return chosen


def _is_triggered(entry: Lore, transcript: str, text: str, budget: RegexBudget) -> bool:
    if entry.constant:
        return True
    if entry.use_regex:
        return any(budget.search(key, transcript[-_REACH:]) for key in entry.keys)
    return _any_key_in(entry.keys, text) and (not entry.secondary_keys or _any_key_in(entry.secondary_keys, text))


def _any_key_in(keys: Iterable[str], text: str) -> bool:
    return any(_key_in(key.casefold(), text) for key in keys)


def _key_in(key: str, text: str) -> bool:
    """Whether a key occurs in the text: Chinese anywhere, other scripts as whole words, also between Chinese ones."""
    if key not in text:
        return False
    if _IS_HAN.search(key):
        return True
    return re.search(rf"(?<!{_LETTER}){re.escape(key)}(?!{_LETTER})", text) is not None
