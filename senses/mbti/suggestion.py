"""Suggests the MBTI type of a character from its text: what it says of itself counts first, then its traits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from soulgraph.senses.mbti.statements import Statement, statements
from soulgraph.senses.mbti.traits import AXES, Trait, traits_in

_STATED = 0.95
_CONTESTED = 0.75
"""The confidence in a type that is stated, if the text states others too."""
_DOUBT = 2.0
"""How much weight on one side of an axis makes it as likely as not."""
_UNTOLD = "INFP"
"""Of an axis about which the text says nothing."""
_MAX_REASONS = 8
_WORDS_EACH = 4
_EXAMPLES_WEIGHT = 0.5
_LEANING_SURE = 0.6
"""A text leans a little to some side even if it tells nothing: so much of that counts for the certainty."""


Lean = Callable[[str], Mapping[str, float]]
"""For each axis how much a text leans to its first letter as a whole, against words that speak for one."""


def no_leaning(_: str) -> Mapping[str, float]:
    return {}


@dataclass(frozen=True, slots=True)
class CharacterText:
    """What a suggestion is made from: who the character is, its tags, and how it speaks."""

    name: str
    about: str
    tags: Sequence[str] = ()
    examples: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`confidence` is 0 to 1; below `UNSURE` the text says too little. `why` are short reasons with the words found."""

    mbti_type: str
    confidence: float
    why: tuple[str, ...]


UNSURE = 0.3


def suggest_mbti(text: CharacterText, lean: Lean = no_leaning) -> Suggestion:
    """The type that the text suggests, the same for the same text."""
    stated = [
        Statement(one.mbti_type, one.score + 2, f"tag {one.words}") for tag in text.tags for one in statements(tag)
    ]
    stated += statements(text.about, text.name)
    if stated:
        return _from_statements(stated)
    about = [*traits_in(text.about), *traits_in(", ".join(text.tags))]
    return _from_traits(about, traits_in(text.examples), lean(f"{text.about}\n{text.examples}"))


def _from_statements(stated: Sequence[Statement]) -> Suggestion:
    best = max(stated, key=lambda one: one.score)  # of equal ones the first
    is_contested = any(one.mbti_type != best.mbti_type for one in stated)
    quotes = dict.fromkeys(one.words for one in stated if one.mbti_type == best.mbti_type)
    why = tuple(f"{best.mbti_type}: “{words}”" for words in quotes)[:_MAX_REASONS]
    return Suggestion(best.mbti_type, _CONTESTED if is_contested else _STATED, why)


def _from_traits(about: Sequence[Trait], examples: Sequence[Trait], leaning: Mapping[str, float]) -> Suggestion:
    balances = [_balance(axis, about, examples, leaning.get(axis, 0.0)) for axis in AXES]
    letters, why = [], []
    for axis, untold, one in zip(AXES, _UNTOLD, balances, strict=True):
        letter = axis[one.difference < 0] if one.difference else untold
        words = _words([*about, *examples], letter)
        whole = "the text as a whole" if one.certainty >= UNSURE else "a guess, nothing speaks much for it"
        letters.append(letter)
        why.append(f"{letter}: {words or whole}")
    return Suggestion("".join(letters), round(sum(one.certainty for one in balances) / len(AXES), 2), tuple(why))


class _Balance(NamedTuple):
    """How much more speaks for the first letter of an axis than for the second, and how certain that is, 0 to 1."""

    difference: float
    certainty: float


def _balance(axis: str, about: Sequence[Trait], examples: Sequence[Trait], leaning: float) -> _Balance:
    first, second = (_weight(about, letter) + _EXAMPLES_WEIGHT * _weight(examples, letter) for letter in axis)
    sure = _LEANING_SURE * leaning
    certainty = abs(first - second + sure) / (first + second + abs(sure) + _DOUBT)
    return _Balance(first - second + leaning, certainty)


def _weight(traits: Sequence[Trait], letter: str) -> float:
    return sum(trait.weight for trait in traits if trait.letter == letter)


def _words(traits: Sequence[Trait], letter: str) -> str:
    """The words that speak most for a letter."""
    mine = sorted((trait for trait in traits if trait.letter == letter), key=lambda trait: -trait.weight)
    return ", ".join(dict.fromkeys(trait.word.lower() for trait in mine[:_WORDS_EACH]))
