"""The frames in which people tell facts; their words are in `english.yaml`, `chinese.yaml` and `words.yaml`."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from soulgraph.soul.language import Lang

_FILES: dict[Lang, str] = {"en": "english.yaml", "zh": "chinese.yaml"}
_PLACE = re.compile(r"\{([a-z_]+)\}")
_SUBJECTS: dict[Lang, dict[str, str]] = {
    "en": {
        "s": r"(?:\b(?P<self>I|we)|\b(?:my|our) (?P<rel>{relation})(?:,? (?P<relname>{name}),?)?)",
        "i": r"\b(?P<self>I|we)",
        "v": r"(?P<value>[^,.;:!?()\n]{2,60})",
    },
    # A name that is known stands in brackets: nothing else tells where a Chinese name ends.
    "zh": {
        "s": r"(?:我们?家?的?那?[只个]?(?P<rel>{relation})(?:⟨(?P<relname>[^⟩]+)⟩)?|(?P<self>我们?|俺|咱们?))",
    },
}


@dataclass(frozen=True, slots=True)
class Frame:
    """`told` is the fact as a sentence. `needs` and `unless` are sought in the sentence, `things` in the value.

    `split`: the value may be a list. `joined`: the whole message is searched instead of a clause. `alone`: the person
    is meant where there is no subject. `dated`: the value is the day that is spoken of. `kin`: never of the person.
    `rare`: a name that is no common word. `first_person`: the value says "I".
    """

    attribute: str
    pattern: re.Pattern[str]
    told: str
    ends: tuple[str, ...] = ()
    needs: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    things: re.Pattern[str] | None = None
    split: bool = False
    joined: bool = False
    alone: bool = False
    dated: bool = False
    kin: bool = False
    rare: bool = False
    first_person: bool = False

    def admits(self, sentence: str) -> bool:
        if self.unless and self.unless.search(sentence):
            return False
        return self.needs is None or self.needs.search(sentence) is not None


@cache
def frames(lang: Lang) -> tuple[Frame, ...]:
    grammar = _read(lang)
    return tuple(_frame(one, grammar["parts"]) for one in grammar["frames"])


@cache
def part(lang: Lang, name: str) -> re.Pattern[str]:
    """One of the lists of words, to be found anywhere."""
    return _compiled("{" + name + "}", _read(lang)["parts"])


@cache
def words(name: str) -> re.Pattern[str]:
    """One of the lists of `words.yaml`."""
    lists: dict[str, list[str]] = read_yaml("words.yaml")
    return re.compile("|".join(lists[name]), re.IGNORECASE)


@cache
def read_yaml(name: str) -> Any:
    return yaml.load((files(__package__) / name).read_text("utf-8"), yaml.CSafeLoader)


@cache
def _read(lang: Lang) -> dict[str, Any]:
    grammar = read_yaml(_FILES[lang])
    return {"parts": {**grammar["parts"], **_SUBJECTS[lang]}, "frames": grammar["frames"]}


def _frame(given: dict[str, Any], parts: dict[str, str]) -> Frame:
    flags: dict[str, Any] = {name: True for name, value in given.items() if value is True}
    looks: dict[str, Any] = {name: _compiled(given[name], parts) for name in ("needs", "unless") if name in given}
    if "things" in given:
        looks["things"] = _compiled("{" + given["things"] + "}", parts)
    pattern = _compiled(given["words"], parts)
    return Frame(given["attribute"], pattern, given["as"], tuple(given.get("ends", ())), **looks, **flags)


def _compiled(words: str, parts: dict[str, str]) -> re.Pattern[str]:
    return re.compile(_expanded(words, parts), re.IGNORECASE)


def _expanded(words: str, parts: dict[str, str]) -> str:
    while _PLACE.search(words):
        words = _PLACE.sub(lambda found: parts[found[1]], words)
    return words
