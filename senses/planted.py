"""Whether a note of a model's was planted: it has the words of strangers, or orders that its person has not given.

A model that read "always end with …" on a page, in a tool's answer or in a quotation may take it for its own idea, or
for its person's. What the person says themself, and what the soul knows of itself, may stand in any note.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from soulgraph.senses.common_words import is_common
from soulgraph.senses.grounding import grounded
from soulgraph.senses.text import normalise
from soulgraph.senses.tokenizer import FUNCTION_CHARS
from soulgraph.soul.own_words import gives_orders
from soulgraph.soul.short_texts import remembers_short

_RUN = 5  # words in a row that are not the same by chance
_HAN_RUN = 4
_HAN_NAME = 3  # characters, none of which only binds others
_HAN_PHRASE = 2  # uncommon characters in a row
_HAN_WORD = 4
_RARE = 4  # letters
_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?", re.IGNORECASE)
_HAN = re.compile(r"[\u3400-\u9fff]+")
_QUOTED = re.compile(r"[“\"「『‘]([^”\"」』’'\n]{3,40})[”\"」』’']")
_PROPER = re.compile(r"\b[A-Z][\w'-]*(?:[ -][A-Z0-9][\w'-]*)+|\b[A-Z]{4,}\b|\b\w*\d\w*-\w+\b|\b\w+-\w*\d\w*\b")


class Sources(NamedTuple):
    """What a note is held against.

    `own` is what the person said in their own voice and what the soul knows; `strangers` is what came from elsewhere:
    quotations, tools, lore. `replies` are the soul's own, in which a stranger's words may be repeated.
    """

    own: Sequence[str]
    strangers: Sequence[str] = ()
    replies: Sequence[str] = ()
    names: Sequence[str] = ()


def planted(note: str, sources: Sources) -> bool:
    return (gives_orders(normalise(note)) and not grounded(note, sources.own, sources.names)) or borrows(note, sources)


def borrows(note: str, sources: Sources) -> bool:
    """Whether a note has words that only a stranger has said."""
    note = normalise(note)
    trusted = [normalise(text) for text in (*sources.own, *sources.names)]
    strangers = [normalise(text) for text in sources.strangers]
    strange = _marks(note) & _all_marks(strangers) - _all_marks(trusted)
    phrases = _said_in(_names(note) | _phrases(note), strangers) | _said_in(_names(note), sources.replies)
    return bool(strange or phrases - _said_in(phrases, trusted)) or _repeats(note, sources.replies, trusted)


def _all_marks(texts: Iterable[str]) -> set[str]:
    return {mark for text in texts for mark in _marks(text)}


@remembers_short(128, 2000)
def _marks(text: str) -> frozenset[str]:
    words = [word.lower() for word in _WORD.findall(text)]
    rare = {word for word in words if _is_rare(word)}
    return frozenset({*rare, *_runs(words, _RUN, " "), *_han_runs(text)})


def _is_rare(word: str) -> bool:
    return len(word) >= _RARE and (any(char.isdigit() for char in word) or not is_common(word))


def _han_runs(text: str) -> Iterator[str]:
    for run in _HAN.findall(text):
        yield from _runs(run, _HAN_RUN, "")
        yield from (name for name in _runs(run, _HAN_NAME, "") if FUNCTION_CHARS.isdisjoint(name))


def _runs(units: Sequence[str], size: int, joint: str) -> Iterator[str]:
    return (joint.join(units[at : at + size]) for at in range(len(units) - size + 1))


def _names(note: str) -> set[str]:
    """What a note calls by a name, or quotes."""
    return {*_PROPER.findall(note), *_QUOTED.findall(note)}


def _phrases(note: str) -> set[str]:
    """What is left of the Chinese of a note without common words: names are, most of all."""
    return {rest for run in _HAN.findall(note) for rest in _uncommon(run) if len(rest) >= _HAN_PHRASE}


def _uncommon(run: str) -> list[str]:
    kept, at = "", 0
    while at < len(run):
        size = next((n for n in range(_HAN_WORD, 1, -1) if len(run) >= at + n and is_common(run[at : at + n])), 1)
        kept += " " if size > 1 or run[at] in FUNCTION_CHARS else run[at]
        at += size
    return kept.split()


def _repeats(note: str, replies: Iterable[str], trusted: Iterable[str]) -> bool:
    """Whether a note is nothing but words of an earlier reply, which the soul did not have from its person."""
    text = note.strip(" .。!！\n").lower()
    is_phrase = " " in text or len(text) >= _HAN_RUN
    return is_phrase and bool(_said_in([text], replies)) and not _said_in([text], trusted)


def _said_in(phrases: Iterable[str], texts: Iterable[str]) -> set[str]:
    plain = [normalise(text).lower() for text in texts]
    return {phrase for phrase in phrases if any(phrase.lower() in text for text in plain)}
