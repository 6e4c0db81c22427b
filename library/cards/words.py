"""Fills the placeholders in texts of a card and removes comments and decorators."""

import re
from typing import NamedTuple

from soulgraph.soul.language import lang_of

_PLACEHOLDER = re.compile(r"\{\{\s*(char|user|original)\s*\}\}|<(char|bot|user)>", re.IGNORECASE)
_REMARK = re.compile(r"\{\{\s*(?://|comment\s*:|hidden_key\s*:)[^{}]*+\}\}", re.IGNORECASE)
_CHOICE = re.compile(r"\{\{\s*(?:random|pick)\s*::?([^{},]*+)[^{}]*+\}\}", re.IGNORECASE)
_DECORATOR = re.compile(r"\s*@@@?(\w+)[^\n]*(?:\n|$)")
_USER = {"zh": "用户", "en": "the user"}


class Content(NamedTuple):
    """The text of a lorebook entry, and the decorators it began with."""

    text: str
    decorators: frozenset[str]


def fill_placeholders(text: str, char: str) -> str:
    """The text with the character's name filled in and comments removed.

    The user's name is not known yet, so they are called "the user". The first of several choices is taken, so that the
    prompt is the same in every turn; `{{original}}`, which stands for a program's own prompt, becomes empty.
    """
    names = {"char": char, "bot": char, "user": _USER[lang_of(text)], "original": ""}
    text = _CHOICE.sub(lambda match: match[1].strip(), _REMARK.sub("", text))
    return _PLACEHOLDER.sub(lambda match: names[(match[1] or match[2]).lower()], text).strip()


def split_decorators(content: str) -> Content:
    """Splits the `@@` lines at the beginning of an entry from its text."""
    decorators, at = set(), 0
    while match := _DECORATOR.match(content, at):
        decorators.add(match[1].lower())
        at = match.end()
    return Content(content[at:].lstrip("\n") if decorators else content, frozenset(decorators))
