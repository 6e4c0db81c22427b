"""The words of the appraisal: what attacks, what makes good, who is spoken of, and what turns their meaning."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import yaml

from soulgraph.senses.units import Phrase, inflections, phrases_in

ATTACKS = ("vile", "threat", "insult", "contempt", "rejection", "mockery")
AMENDS = ("apology", "taking_back", "forgiveness", "joking")
REPAIRS = (*AMENDS, "comfort", "reassurance", "patience", "thanks", "affection", "praise")
TURNS = (
    *("reporting", "mentions", "negators", "nobody", "asking"),
    *("rhetoric", "contrasts", "play", "anger_signs", "orders", "venting"),
)
VERBS = {"harm": "threat", "dislike": "contempt", "love": "affection"}
"""What a verb is when the soul is its object."""


class Hit(NamedTuple):
    """A phrase found in a text: its kind, and the units it covers."""

    kind: str
    start: int
    end: int


class Words:
    """Finds phrases of several kinds by longest match."""

    def __init__(self, groups: Mapping[str, Iterable[Phrase]]) -> None:
        self._kinds: dict[Phrase, list[str]] = defaultdict(list)
        for kind, phrases in groups.items():
            for phrase in phrases:
                self._kinds[phrase].append(kind)
        lengths: dict[str, set[int]] = defaultdict(set)
        for phrase in self._kinds:
            lengths[phrase[0]].add(len(phrase))
        self._lengths = {first: sorted(sizes, reverse=True) for first, sizes in lengths.items()}

    def find(self, units: list[str]) -> list[Hit]:
        hits: list[Hit] = []
        end = 0
        for at, unit in enumerate(units):
            if unit in self._lengths and at >= end:
                size, kinds = self._longest(units, at)
                end = at + size
                hits += [Hit(kind, at, end) for kind in kinds if kind != "neutral"]
        return hits

    def _longest(self, units: list[str], at: int) -> tuple[int, list[str]]:
        for size in self._lengths[units[at]]:
            if kinds := self._kinds.get(tuple(units[at : at + size])):
                return size, kinds
        return 1, []


class Lexicon:
    """`content` is what is said, `persons` of whom, and `turns` is what changes its meaning."""

    def __init__(self, data: dict[str, Any]) -> None:
        content = {kind: phrases_in(listing) for part in ("attacks", "repairs") for kind, listing in data[part].items()}
        verbs = {kind: list(_inflected(phrases_in(listing))) for kind, listing in data["verbs"].items()}
        insults = list(_inflected(phrases_in(data["insult"])))
        self.content = Words(
            {**content, **verbs, "insult": insults, **{kind: phrases_in(data[kind]) for kind in ("praise", "neutral")}}
        )
        self.persons = Words({kind: phrases_in(listing) for kind, listing in data["persons"].items()})
        self.turns = Words({kind: phrases_in(data[kind]) for kind in TURNS})
        self.before_objects, self.pointers, self.still_listener = (
            frozenset(unit for (unit,) in phrases_in(data[kind]))
            for kind in ("before_objects", "pointers", "still_listener")
        )


@cache
def lexicon() -> Lexicon:
    return Lexicon(yaml.load((files(__package__) / "lexicon.yaml").read_text("utf-8"), yaml.CSafeLoader))


def _inflected(phrases: Iterable[Phrase]) -> Iterator[Phrase]:
    """The phrases, with the regular forms of single English words."""
    for phrase in dict.fromkeys(phrases):
        if len(phrase) == 1 and phrase[0].isascii():
            yield from ((form,) for form in inflections(phrase[0]))
        else:
            yield phrase
