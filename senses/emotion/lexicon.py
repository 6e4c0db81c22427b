"""The emotion lexicon: turns a text into a list of marks (feelings, negators, degree words, …)."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import yaml

from soulgraph.senses.text import normalise

Kind = Literal[
    "feeling", "sign", "negator", "degree", "after", "bridge", "joiner", "contrast", "curse", "tone", "irony", "plain"
]
Phrase = tuple[str, ...]

STRENGTH = {"strong": 0.9, "plain": 0.65, "weak": 0.35, "signs": 0.5}
AMPLIFIED, SOFTENED = 1.35, 0.6

_UNIT = re.compile(r"[^\W_\u3400-\u9fff]+(?:[_'][^\W\u3400-\u9fff]+)*|\S")
_ELONGATED = re.compile(r"([a-z]{1,2}?)\1{2,}")


class Mark(NamedTuple):
    """A phrase found in a text: its kind, its label if it has one, its weight, and whether it is emphasised."""

    kind: Kind
    label: str = ""
    weight: float = 1.0
    loud: bool = False


PLAIN = Mark("plain")


class Units(NamedTuple):
    """The units of a text as written (`raw`) and as the lexicon spells them (`plain`)."""

    raw: list[str]
    plain: list[str]


def _split(text: str) -> list[str]:
    """English words as wholes, everything else (a Chinese character, an emoji) one by one."""
    return _UNIT.findall(text)


@lru_cache(maxsize=20_000)
def _normalise_unit(unit: str) -> str:
    """A unit as the lexicon spells it: lower case, and "soooo" is "so"."""
    return _ELONGATED.sub(r"\1", unit.lower())


def units_of(text: str) -> Units:
    raw = _split(normalise(text))
    return Units(raw, [_normalise_unit(unit) for unit in raw])


def inflections(word: str) -> Iterator[str]:
    """The regular forms of an English word; forms that do not exist do no harm."""
    yield from (word, f"{word}s", f"{word}es", f"{word}d", f"{word}ed", f"{word}ing")
    yield from (f"{word}{word[-1]}{ending}" for ending in ("ed", "ing"))
    if word.endswith("e"):
        yield f"{word[:-1]}ing"
    if word.endswith("y"):
        yield from (f"{word[:-1]}i{ending}" for ending in ("es", "ed", "er", "est"))


class Phrases:
    """Finds phrases in units by longest match."""

    def __init__(self, marks: Mapping[Phrase, Mark]) -> None:
        self.marks = marks
        lengths: dict[str, set[int]] = defaultdict(set)
        for phrase in marks:
            lengths[phrase[0]].add(len(phrase))
        self._lengths = {first: sorted(sizes, reverse=True) for first, sizes in lengths.items()}

    def scan(self, units: Units) -> list[Mark]:
        """The marks of a text from left to right; unknown units become plain marks."""
        raw, plain = units
        marks: list[Mark] = []
        at = 0
        while at < len(plain):
            size, mark = self._longest(plain, at) if plain[at] in self._lengths else (1, PLAIN)
            written, spelling = raw[at : at + size], plain[at : at + size]
            loud = written != spelling and any(map(_is_loud, written, spelling))
            marks.append(mark._replace(loud=True) if loud else mark)
            at += size
        return marks

    def _longest(self, units: list[str], at: int) -> tuple[int, Mark]:
        for size in self._lengths[units[at]]:
            if mark := self.marks.get(tuple(units[at : at + size])):
                return size, mark
        return 1, PLAIN


class Lexicon:
    """`words` are feelings and their modifiers; `cues` tell what kind of utterance it is."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.negated: dict[str, str] = data["negated"]
        self.words = Phrases(_inflected(dict(_entries(data))))
        self.cues = Phrases(dict(_grouped(data["cues"], "plain")))

    def scan(self, text: str) -> list[Mark]:
        return self.words.scan(units_of(text))


@cache
def lexicon() -> Lexicon:
    return Lexicon(yaml.safe_load((files(__package__) / "lexicon.yaml").read_text("utf-8")))


def phrases_in(listing: str) -> list[Phrase]:
    return [tuple(units_of(entry).plain) for entry in listing.split(",")]


def _entries(data: dict[str, Any]) -> Iterator[tuple[Phrase, Mark]]:
    for label, levels in data["feelings"].items():
        for level, listing in levels.items():
            yield from _marked(listing, Mark("sign" if level == "signs" else "feeling", label, STRENGTH[level]))
    degrees = data["degrees"]
    yield from _marked(degrees["up"], Mark("degree", weight=AMPLIFIED))
    yield from _marked(degrees["down"], Mark("degree", weight=SOFTENED))
    yield from _marked(degrees["after"], Mark("after", weight=AMPLIFIED))
    yield from _marked(data["curses"], Mark("curse", weight=AMPLIFIED))
    yield from _marked(data["negators"], Mark("negator"))
    yield from _marked(data["bridges"], Mark("bridge"))
    yield from _marked(data["joiners"], Mark("joiner"))
    yield from _marked(data["contrasts"], Mark("contrast"))
    yield from _marked(data["irony"], Mark("irony"))
    yield from _grouped(data["tones"], "tone")
    yield from _marked(data["neutral"], PLAIN)


def _grouped(groups: dict[str, str], kind: Kind) -> Iterator[tuple[Phrase, Mark]]:
    for label, listing in groups.items():
        yield from _marked(listing, Mark(kind, label))


def _marked(listing: str, mark: Mark) -> Iterator[tuple[Phrase, Mark]]:
    return ((phrase, mark) for phrase in phrases_in(listing))


def _inflected(marks: dict[Phrase, Mark]) -> dict[Phrase, Mark]:
    """The marks with inflected forms of single English words added, unless a form is an entry itself."""
    words = [(phrase[0], mark) for phrase, mark in marks.items() if _inflects(phrase, mark)]
    forms = {(form,): mark for word, mark in reversed(words) for form in inflections(word)}
    return forms | marks


def _inflects(phrase: Phrase, mark: Mark) -> bool:
    return mark.kind in ("feeling", "tone") and len(phrase) == 1 and phrase[0].isascii()


def _is_loud(raw: str, unit: str) -> bool:
    """Whether a unit is in capitals or drawn out; a single capital letter does not count."""
    return len(raw) > 1 and (raw.isupper() or raw.lower() != unit)
