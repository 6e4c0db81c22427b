"""The words of a card as a prompt may have them: placeholders filled in, remarks and decorators gone."""

import re
from typing import NamedTuple

from soulgraph.soul.language import lang_of

_PLACEHOLDER = re.compile(r"\{\{\s*(char|user|original)\s*\}\}|<(char|bot|user)>", re.IGNORECASE)
_REMARK = re.compile(r"\{\{\s*(?://|comment\s*:|hidden_key\s*:)[^{}]*+\}\}", re.IGNORECASE)
_CHOICE = re.compile(r"\{\{\s*(?:random|pick)\s*::?([^{},]*+)[^{}]*+\}\}", re.IGNORECASE)
_DECORATOR = re.compile(r"\s*@@@?(\w+)[^\n]*(?:\n|$)")
_USER = {"zh": "用户", "en": "the user"}


class Content(NamedTuple):
    """What an entry says, and the decorators it began with."""

    text: str
    decorators: frozenset[str]


def filled(text: str, char: str) -> str:
    """The text with the character's name in it.

    The user's name is not known yet, so they are called by their role. Of several choices the first is taken, that
    a prompt stays the same from turn to turn, and `{{original}}`, where a program would put its own prompt, is empty.
    """
    names = {"char": char, "bot": char, "user": _USER[lang_of(text)], "original": ""}
    text = _CHOICE.sub(lambda match: match[1].strip(), _REMARK.sub("", text))
    return _PLACEHOLDER.sub(lambda match: names[(match[1] or match[2]).lower()], text).strip()


def undecorated(content: str) -> Content:
    """The content after the `@@` lines at its beginning."""
    decorators, at = set(), 0
    while match := _DECORATOR.match(content, at):
        decorators.add(match[1].lower())
        at = match.end()
    return Content(content[at:].lstrip("\n") if decorators else content, frozenset(decorators))
