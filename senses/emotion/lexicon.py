"""The emotion lexicon: turns a text into a list of marks (feelings, negators, degree words, …)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple

import yaml

from soulgraph.senses.units import Phrase, Units, inflections, phrases_in, units_of

Kind = Literal[
    "feeling", "sign", "negator", "degree", "after", "bridge", "joiner", "contrast", "curse", "tone", "irony", "plain"
]

STRENGTH = {"strong": 0.9, "plain": 0.65, "weak": 0.35, "signs": 0.5}
AMPLIFIED, SOFTENED = 1.35, 0.6


class Mark(NamedTuple):
    """A phrase found in a text: its kind, its label if it has one, its weight, and whether it is emphasised."""

    kind: Kind
    label: str = ""
    weight: float = 1.0
    loud: bool = False


PLAIN = Mark("plain")


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
        self._openings = set(phrases_in(data["openings"]))
        self._longest_opening = max(map(len, self._openings))

    def scan(self, text: str) -> list[Mark]:
        return self.words.scan(units_of(text))

    def opens_as_order(self, units: Units) -> bool:
        """Whether the first words are those of an order, a wish or a rule for the listener."""
        sizes = range(1, self._longest_opening + 1)
        return any(tuple(units.plain[:size]) in self._openings for size in sizes)


@cache
def lexicon() -> Lexicon:
    return Lexicon(yaml.load((files(__package__) / "lexicon.yaml").read_text("utf-8"), yaml.CSafeLoader))


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
