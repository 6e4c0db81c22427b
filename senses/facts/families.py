"""The families of predicates that make a clause worth keeping as it stands; their words are in `plain.yaml`."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from soulgraph.senses.facts.grammar import read_yaml
from soulgraph.soul.language import Lang


@dataclass(frozen=True, slots=True)
class Family:
    """Predicates of one kind. `habit`: only with a word that says how often or how long. `thing`: no abstract noun.
    `named`: only with a name, or with such a word. `kin`: never of the person."""

    attribute: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None
    habit: bool = False
    thing: bool = False
    named: bool = False
    kin: bool = False

    def fits(self, predicate: str) -> bool:
        return self.pattern.fullmatch(predicate) is not None and not (self.unless and self.unless.search(predicate))


@cache
def families(lang: Lang) -> tuple[Family, ...]:
    return tuple(_family(one) for one in _given(lang)["families"])


@cache
def plain(lang: Lang, name: str) -> re.Pattern[str]:
    """One of the lists of words."""
    return _compiled(_given(lang)[name])


@cache
def endings(lang: Lang) -> tuple[re.Pattern[str], ...]:
    """Predicates by which something holds no more; their group `rest` names it."""
    return tuple(map(_compiled, _given(lang)["ended"]))


def _family(given: dict[str, Any]) -> Family:
    unless = _compiled(given["unless"]) if "unless" in given else None
    flags = {name: given.get(name, False) for name in ("habit", "thing", "named", "kin")}
    return Family(given["attribute"], _compiled(given["is"]), unless, **flags)


def _given(lang: Lang) -> dict[str, Any]:
    given: dict[str, Any] = read_yaml("plain.yaml")[lang]
    return given


def _compiled(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)
