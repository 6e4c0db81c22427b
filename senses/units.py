"""The units in which word lists are matched: English words, Chinese characters, signs."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from soulgraph.senses.text import normalise

Phrase = tuple[str, ...]

_UNIT = re.compile(r"[^\W_\u3400-\u9fff]+(?:[_'][^\W\u3400-\u9fff]+)*|\S")
_ELONGATED = re.compile(r"([a-z]{1,2}?)\1{2,}")


class Units(NamedTuple):
    """The units of a text as written (`raw`) and as the lexicon spells them (`plain`)."""

    raw: list[str]
    plain: list[str]


def _split(text: str) -> list[str]:
    """English words as wholes, everything else (a Chinese character, an emoji) one by one."""
    return _UNIT.findall(text)


@lru_cache(maxsize=1024)
def _normalise_unit(unit: str) -> str:
    """A unit as the lexicon spells it: lower case, and "soooo" is "so"."""
    return _ELONGATED.sub(r"\1", unit.lower())


def units_of(text: str) -> Units:
    return _units_of(normalise(text))


@lru_cache(maxsize=8)
def _units_of(text: str) -> Units:
    """Remembered: emotion and appraisal ask for those of the same text."""
    raw = _split(text)
    return Units(raw, [_normalise_unit(unit) for unit in raw])


def inflections(word: str) -> Iterator[str]:
    """The regular forms of an English word; forms that do not exist do no harm."""
    yield from (word, f"{word}s", f"{word}es", f"{word}d", f"{word}ed", f"{word}ing")
    yield from (f"{word}{word[-1]}{ending}" for ending in ("ed", "ing"))
    if word.endswith("e"):
        yield f"{word[:-1]}ing"
    if word.endswith("y"):
        yield from (f"{word[:-1]}i{ending}" for ending in ("es", "ed", "er", "est"))


def phrases_in(listing: str) -> list[Phrase]:
    return [tuple(units_of(entry).plain) for entry in listing.split(",")]
