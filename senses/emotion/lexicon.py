"""The emotional vocabulary: texts become a row of marks (feelings, negators, degree words, …)."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import yaml

from soulgraph.senses.text import normalise

Kind = Literal["feeling", "sign", "negator", "degree", "after", "bridge", "joiner", "contrast", "curse", "plain"]
Phrase = tuple[str, ...]

STRENGTH = {"strong": 0.9, "plain": 0.65, "weak": 0.35, "signs": 0.5}
AMPLIFIED, SOFTENED = 1.35, 0.6

_UNIT = re.compile(r"[^\W_\u3400-\u9fff]+(?:[_'][^\W\u3400-\u9fff]+)*|\S")
_ELONGATED = re.compile(r"([a-z]{1,2}?)\1{2,}")


class Mark(NamedTuple):
    """One stretch of text and what it does to the feeling around it."""

    kind: Kind
    label: str = ""
    weight: float = 1.0
    loud: bool = False


PLAIN = Mark("plain")


def units_of(text: str) -> list[str]:
    """English words whole, everything else (a Chinese character, an emoji) one by one."""
    return _UNIT.findall(text)


def plainly(unit: str) -> str:
    """A unit as the lexicon spells it: lower case, and "soooo" is "so"."""
    return _ELONGATED.sub(r"\1", unit.lower())


def inflections(word: str) -> Iterator[str]:
    """The regular forms of an English word; those that do not exist do no harm."""
    yield from (word, f"{word}s", f"{word}es", f"{word}d", f"{word}ed", f"{word}ing")
    yield from (f"{word}{word[-1]}{ending}" for ending in ("ed", "ing"))
    if word.endswith("e"):
        yield f"{word[:-1]}ing"
    if word.endswith("y"):
        yield from (f"{word[:-1]}i{ending}" for ending in ("es", "ed", "er", "est"))


class Lexicon:
    """Phrases by their units; the longest phrase that fits is the one that counts."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.negated: dict[str, str] = data["negated"]
        self.marks: dict[Phrase, Mark] = dict(_entries(data))
        self._add_inflections()
        self._lengths = self._lengths_by_first_unit()

    def scan(self, text: str) -> list[Mark]:
        """The text from left to right, longest match first; what is unknown is a plain mark."""
        raw = units_of(normalise(text))
        units = [plainly(unit) for unit in raw]
        marks: list[Mark] = []
        at = 0
        while at < len(units):
            size, mark = self._longest(units, at)
            loud = any(map(_is_loud, raw[at : at + size], units[at : at + size]))
            marks.append(mark._replace(loud=True) if loud else mark)
            at += size
        return marks

    def _longest(self, units: list[str], at: int) -> tuple[int, Mark]:
        for size in self._lengths.get(units[at], ()):
            if mark := self.marks.get(tuple(units[at : at + size])):
                return size, mark
        return 1, PLAIN

    def _add_inflections(self) -> None:
        words = [(phrase[0], mark) for phrase, mark in self.marks.items() if _inflects(phrase, mark)]
        for word, mark in words:
            for form in inflections(word):
                self.marks.setdefault((form,), mark)

    def _lengths_by_first_unit(self) -> dict[str, list[int]]:
        lengths: dict[str, set[int]] = defaultdict(set)
        for phrase in self.marks:
            lengths[phrase[0]].add(len(phrase))
        return {first: sorted(sizes, reverse=True) for first, sizes in lengths.items()}


@cache
def lexicon() -> Lexicon:
    return Lexicon(yaml.safe_load((files(__package__) / "lexicon.yaml").read_text("utf-8")))


def phrases_in(listing: str) -> list[Phrase]:
    return [tuple(map(plainly, units_of(normalise(entry)))) for entry in listing.split(",")]


def _entries(data: dict[str, Any]) -> Iterator[tuple[Phrase, Mark]]:
    for label, levels in data["feelings"].items():
        for level, listing in levels.items():
            kind: Kind = "sign" if level == "signs" else "feeling"
            yield from _marked(listing, Mark(kind, label, STRENGTH[level]))
    degrees = data["degrees"]
    yield from _marked(degrees["up"], Mark("degree", weight=AMPLIFIED))
    yield from _marked(degrees["down"], Mark("degree", weight=SOFTENED))
    yield from _marked(degrees["after"], Mark("after", weight=AMPLIFIED))
    yield from _marked(data["curses"], Mark("curse", weight=AMPLIFIED))
    yield from _marked(data["negators"], Mark("negator"))
    yield from _marked(data["bridges"], Mark("bridge"))
    yield from _marked(data["joiners"], Mark("joiner"))
    yield from _marked(data["contrasts"], Mark("contrast"))
    yield from _marked(data["neutral"], PLAIN)


def _marked(listing: str, mark: Mark) -> Iterable[tuple[Phrase, Mark]]:
    return ((phrase, mark) for phrase in phrases_in(listing))


def _inflects(phrase: Phrase, mark: Mark) -> bool:
    return mark.kind == "feeling" and len(phrase) == 1 and phrase[0].isascii()


def _is_loud(raw: str, unit: str) -> bool:
    """SHOUTED or drawn out; one capital letter is only grammar."""
    return len(raw) > 1 and (raw.isupper() or raw.lower() != unit)
