"""What a text asks memory for: its terms, whom it is about, and which days."""

import re
from dataclasses import dataclass
from datetime import datetime

from soulgraph.senses.text import normalise
from soulgraph.senses.tokenizer import concepts_of, fingerprint, terms_of, without_courtesies, words_of
from soulgraph.senses.values.time_questions import asked_times, asks_when
from soulgraph.senses.values.time_terms import time_terms

_NAME = re.compile(r"\b[A-Z][a-z]+\b")
_YOU = re.compile(
    r"\b(?:did|do|have|had|are|were|was|would|will|could|can)(?:n't)? you\b|\byou(?:'d|'ve|'re|r|rs)?\b|你|您",
    re.IGNORECASE,
)
_I = re.compile(r"\b(?:i|me|my|mine|myself|we|us|ours?)\b|我|咱", re.IGNORECASE)
# "Do you remember what I …" and 你还记得 ask the soul, but not about the soul.
_ADDRESS = re.compile(
    r"\b(?:do|can|could|will|would) you (?:still )?(?:remember|recall|know|tell|remind)\b|\bi told you\b|\btold you\b"
    r"|你(?:还)?(?:记得|知道|说说|觉得|猜)|(?:告诉|跟|和|对|给)(?:过)?你(?:说|讲|提|聊)?",
    re.IGNORECASE,
)

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Question:
    terms: tuple[int, ...]
    """The fingerprints of its words and days."""
    concepts: tuple[int, ...] = ()
    names: frozenset[int] = frozenset()
    """Those of the terms that are written like names."""
    about: float = 1.0
    """Whose life it asks about: 1 the user's, -1 the soul's, 0 both or neither."""
    when: bool = False
    spans: tuple[Span, ...] = ()
    """The times that it names, in epoch seconds."""


def read_question(text: str, now: datetime) -> Question:
    """`now` has the time zone of the person who asks."""
    plain = without_courtesies(text)
    local = now.replace(tzinfo=None)
    terms = dict.fromkeys(fingerprint(term) for term in (*words_of(plain), *time_terms(text, local)))
    concepts = dict.fromkeys(map(fingerprint, concepts_of(plain)))
    return Question(
        tuple(terms),
        tuple(concepts),
        frozenset(fingerprint(term) for name in _NAME.findall(normalise(text)) for term in terms_of(name)),
        _about(text),
        asks_when(text),
        _spans(text, now, local),
    )


def _about(text: str) -> float:
    """Who asks about nobody in particular asks about their own life."""
    plain = _ADDRESS.sub(" ", normalise(text))
    if not _YOU.search(plain):
        return 1.0
    return 0.0 if _I.search(plain) else -1.0


def _spans(text: str, now: datetime, local: datetime) -> tuple[Span, ...]:
    mentions = asked_times(text, local)
    return tuple((_epoch(one.begins, now), _epoch(one.ends, now)) for one in mentions if not one.recurs)


def _epoch(wall: datetime, now: datetime) -> float:
    """Years before 1 or after 9999 in UTC are those of the calendar's ends."""
    try:
        return wall.replace(tzinfo=now.tzinfo).timestamp()
    except (OverflowError, ValueError):
        return float("-inf") if wall.year < 1970 else float("inf")
