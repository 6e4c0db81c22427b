"""The grammar of permissions: a clause is leads, a refusal or none, and an act with the people it is about.

The words are in `words.yaml`. Leads are what tells or allows the soul to do something. What others did or
said, or might do, stands behind other words, and so is no act.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from soulgraph.senses.permissions.people import PEOPLE

SHARING = ("tells", "greets", "permits", "spread", "speaks")
REFUSABLE = ("tells", "leaks", "spread")

_PLACES = {
    "{whom}": r"(?P<who>(?![不别没])[^\s，,。:你您说讲都知]{1,10}?)",
    "{topic}": r"(?P<who>(?![这那让给叫])[^\s，,。:你您说讲想要是不别能可该也都就]{1,8}?)",
}
_MAX_LEADS = 12
_GAP = re.compile(r"[,\s]*")
_WORD_END = r"(?![A-Za-z0-9])"
# "You can tell Bob is tired" tells Bob nothing.
_NO_PREDICATE = (
    r"(?!'|\s+(?:is|was|are|were|has|had|isn't|wasn't|looks?|seems?|likes?|loves?|hates?|wants?|needs?|feels?|thinks?"
    r"|apart|off|by|from (?!me|us))\b)"
)


class Match(NamedTuple):
    """Where an expression ends, and the people in it as they are said."""

    end: int
    people: str


class Frame:
    """An expression with a place for people: what stands before them, and what behind."""

    def __init__(self, words: str) -> None:
        before, has_people, after = words.partition("{who}")
        self._before = _compiled(before if has_people else f"(?:{before}){_WORD_END}")
        self._after = _compiled(f"(?:{after}){_WORD_END}" if after else _NO_PREDICATE) if has_people else None

    def match(self, text: str, at: int) -> Match | None:
        before = self._before.match(text, at)
        if before is None:
            return None
        if self._after is None:
            return Match(before.end(), before.groupdict().get("who") or "")
        people = PEOPLE.match(text, before.end())
        after = people and self._after.match(text, people.end())
        return Match(after.end(), people.group()) if people and after else None


class Grammar:
    """`frames` are the acts and what stands around them; `signs` are single expressions that change their meaning."""

    def __init__(self, data: dict[str, Any]) -> None:
        parts = data["parts"]
        self.frames = {
            group: [Frame(_filled(words, parts)) for words in listed] for group, listed in data["frames"].items()
        }
        self.signs = {
            name: _compiled(_filled("|".join([words] if isinstance(words, str) else words), parts))
            for name, words in data["signs"].items()
        }

    def match(self, groups: Iterable[str], text: str, at: int) -> tuple[str, Match] | None:
        """The first expression of these groups that stands at this place."""
        found = ((group, frame.match(text, at)) for group in groups for frame in self.frames[group])
        return next(((group, match) for group, match in found if match), None)

    def places(self, text: str, at: int) -> Iterator[int]:
        """This place, and those behind each of the leads that follow it; many in a row lead to nothing."""
        yield at
        for _ in range(_MAX_LEADS):
            lead = self.signs["leads"].match(text, at)
            if lead is None or lead.end() == at:
                return
            at = lead.end()
            yield at

    def refused(self, text: str, at: int) -> int | None:
        """The place behind a refusal that stands here."""
        refusal = self.signs["refusals"].match(text, at)
        if refusal is None:
            return None
        at = after_gap(text, refusal.end())
        while word := self.signs["ever"].match(text, at):
            at = word.end()
        return at


def after_gap(text: str, at: int) -> int:
    """The place of the next word."""
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def _filled(words: str, parts: dict[str, str]) -> str:
    """An expression with its place-holders filled; parts use only parts above them."""
    for name in reversed(parts):
        words = words.replace(f"{{{name}}}", f"(?:{parts[name]})")
    for place, expression in _PLACES.items():
        words = words.replace(place, expression)
    return words


def _compiled(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


@cache
def grammar() -> Grammar:
    return Grammar(yaml.load((files(__package__) / "words.yaml").read_text("utf-8"), yaml.CSafeLoader))
