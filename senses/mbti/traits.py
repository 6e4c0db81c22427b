"""Weighs the words of a text on the four axes of MBTI."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import yaml

AXES = ("EI", "SN", "TF", "JP")
_OPPOSITE = {letter: axis[1 - at] for axis in AXES for at, letter in enumerate(axis)}
_FLIPPED = 0.7
"""What is not said counts less than its opposite: who is not shy need not be the life of the party."""
_MAX_CHARS = 40_000
_NOT_EN = re.compile(
    r"(?:\b(?:not|never|no|hardly|neither|nor|without|cannot(?! (?:bear|help|stand to see))|rarely|far from"
    r"|anything but|hates?|dislikes?|avoids?|loathes?|despises?"
    r"|can['’]t stand|cannot stand|refuses?)\b|n['’]t\b)[\s\w'-]{0,24}$",
    re.IGNORECASE,
)
_ENDS_SCOPE = re.compile(r"\b(?:but|yet|though|whatever|and then|because)\b", re.IGNORECASE)
_NOT_ZH = re.compile(
    r"(?:不|没|没有|毫无|并非|从不|绝不|讨厌|厌恶|反感|不喜欢|拒绝|缺乏|无法)(?:太|很|怎么|算|是|会|那么|什么|任何|按|爱)?$"
)
_NEVER_ZH = re.compile(r"(?:一点也不|一点都不|并不|根本不|其实不)$")
_DISLIKES = re.compile(
    r"(?:dislikes?|hates?|fears?|weakness(?:es)?|讨厌|厌恶|不喜欢|害怕)\W{0,4}[(:：]([^)\n;；]*)", re.IGNORECASE
)


class Trait(NamedTuple):
    """A word that speaks for one side of an axis."""

    letter: str
    weight: float
    word: str


def traits_in(text: str) -> list[Trait]:
    """The traits that the text speaks of, each word once."""
    text = text[:_MAX_CHARS]
    disliked = [match.span(1) for match in _DISLIKES.finditer(text)]
    found: dict[tuple[str, str], Trait] = {}
    for match, word in _matches(text):
        denied = _is_denied(text, match.start()) or any(start <= match.start() < end for start, end in disliked)
        for letter, weight in _weights()[word].items():
            trait = _weighed(letter, weight, match[0], denied)
            found.setdefault((trait.letter, trait.word.lower()), trait)
    return [*found.values()]


def _weighed(letter: str, weight: float, word: str, denied: bool) -> Trait:
    if weight < 0:
        letter, weight = _OPPOSITE[letter], -weight
    return Trait(_OPPOSITE[letter], weight * _FLIPPED, f"not {word}") if denied else Trait(letter, weight, word)


def _is_denied(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at]
    chinese = re.split(r"[，。！？、；\s]", before)[-1]
    if _NOT_ZH.search(chinese) or _NEVER_ZH.search(chinese):
        return True
    english = re.split(r"[.,;:!?\n\"“”(){}\[\]+]", before)[-1]
    denial = _NOT_EN.search(english)
    return denial is not None and not _ENDS_SCOPE.search(denial[0])


def _matches(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """The words of the lexicon in a text, the longest where several begin; each with its entry."""
    for pattern, entries in _patterns():
        for match in pattern.finditer(text):
            yield match, _entry(match[0].lower(), entries)


def _entry(word: str, entries: tuple[str, ...]) -> str:
    if word in _weights():
        return word
    return next(entry for entry in entries if entry.endswith("*") and word.startswith(entry[:-1]))


@cache
def _weights() -> Mapping[str, Mapping[str, float]]:
    """The weights of each word by letter."""
    weights: dict[str, dict[str, float]] = {}
    for letter, languages in yaml.safe_load(Path(__file__).with_name("words.yaml").read_text("utf-8")).items():
        for listed in languages.values():
            for item in listed.split(","):
                word, _, weight = item.strip().partition(":")
                weights.setdefault(word.lower(), {})[letter] = float(weight or 1)
    return weights


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """One pattern for each script, with its words, the longest first."""
    words = sorted(_weights(), key=lambda word: (-len(word), word))
    latin = tuple(word for word in words if word.isascii())
    han = tuple(word for word in words if not word.isascii())
    spelled = "|".join(re.escape(word).replace(r"\*", r"\w*") for word in latin)
    return (
        (re.compile(rf"(?<![\w-])(?:{spelled})(?![\w-])", re.IGNORECASE | re.ASCII), latin),
        (re.compile("|".join(map(re.escape, han))), han),
    )
