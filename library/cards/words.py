"""Fills the placeholders in texts of a card and removes comments and decorators."""

import re
from typing import NamedTuple

from soulgraph.library.cards.macros import without_macros
from soulgraph.soul.language import lang_of

_PLACEHOLDER = re.compile(
    r"(?:\{\{|｛｛)\s*(charifnotgroup|char|bot|group|notchar|user|original|角色|用户)\s*(?:\}\}|｝｝)|<(char|bot|user)>",
    re.IGNORECASE,
)
_DECORATOR = re.compile(r"\s*(@@@?)(\w+)[ \t]*([^\n]*)(?:\n|$)")
_USER = {"zh": "用户", "en": "the user"}
OBEYED = frozenset({"activate", "dont_activate", "additional_keys"})
"""The decorators that mean something here."""


class Content(NamedTuple):
    """The text of a lorebook entry, and the decorators it began with."""

    text: str
    decorators: frozenset[str]


def fill_placeholders(text: str, char: str) -> str:
    """The text with the character's name filled in, and without comments and macros.

    The user's name is not known yet, so they are called "the user". The first of several choices is taken, so that the
    prompt is the same in every turn; `{{original}}`, which stands for a program's own prompt, becomes empty.
    """
    user = _USER[lang_of(text)]
    names = dict.fromkeys(("char", "bot", "charifnotgroup", "group", "角色"), char)
    names |= {"user": user, "notchar": user, "用户": user, "original": ""}
    filled = _PLACEHOLDER.sub(lambda match: names[(match[1] or match[2]).lower()], without_macros(text))
    return filled.strip()


def split_decorators(content: str) -> Content:
    """Splits the `@@` lines at the beginning of an entry from its text."""
    text, values = decorators_of(content)
    return Content(text, frozenset(values))


def decorators_of(content: str) -> tuple[str, dict[str, str]]:
    """The text behind the `@@` lines, and these by name; one with `@@@` counts if that before it does not."""
    values: dict[str, str] = {}
    at, understood = 0, False
    while match := _DECORATOR.match(content, at):
        sign, name, value = match.groups()
        at = match.end()
        if sign == "@@@" and understood:
            continue
        understood = name.lower() in OBEYED
        values.setdefault(name.lower(), value.strip())
    return (content[at:].lstrip("\n") if values else content), values
