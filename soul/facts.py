"""Facts: what people have told about themselves and theirs, and what becomes of one when another is told.

A fact says that a subject has an attribute with a value: the person's own home is Bristol. Of some attributes there is
one value at a time, so that a new one supersedes the old one; the values of all others add up.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

SELF = "self"
"""The subject of a fact about the person who told it."""

OTHER = "other"
"""The attribute of a fact of which it is only known what it says."""

SINGLE = frozenset(
    {"name", "age", "birthday", "home", "hometown", "employer", "job", "school", "grade"}
    | {"partner", "relationship", "diet", "team", "faith"}
)
"""Attributes that have one value at a time."""

ANY = "*"
"""Among what a statement ends: all facts that speak of its value, whatever they say."""

_OPPOSITES = {"likes": "dislikes", "dislikes": "likes"}
_NEAR = 0.75  # share of common words from which two values are the same
_WORD = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]")
_ARTICLES = frozenset(
    {"a", "an", "the", "my", "our", "their", "his", "her", "some", "to", "of", "in", "at", "for", "as"}
)


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact as it was told. `ends` are attributes of the subject that hold no more, with this value if it has one.

    `valid_from` is when it began to hold, if that was said.
    """

    subject: str
    attribute: str
    value: str
    content: str
    valid_from: float | None = None
    ends: tuple[str, ...] = ()


class Known(Protocol):
    """A fact that was kept before."""

    @property
    def subject(self) -> str: ...

    @property
    def attribute(self) -> str: ...

    @property
    def value(self) -> str: ...

    @property
    def content(self) -> str: ...

    @property
    def said_at(self) -> float: ...

    @property
    def holds(self) -> bool: ...


K = TypeVar("K", bound=Known)


@dataclass(frozen=True, slots=True)
class Settlement(Generic[K]):
    """What a statement does to the facts there are.

    `same` say it already, `ended` hold no more, `later` is one told since then that contradicts it.
    """

    same: list[K]
    ended: list[K]
    later: K | None = None


def settle(new: Statement, known: Sequence[K], said_at: float) -> Settlement[K]:
    """Hold a statement against what is known of the same person; `known` may be in any order."""
    holding = [one for one in known if one.holds]
    same = [one for one in holding if says_the_same(one, new)]
    earlier = [one for one in holding if one.said_at <= said_at and one not in same[:1]]
    ended = [one for one in earlier if _is_ended_by(one, new) or contradicts(one, new)]
    later = [one for one in holding if one.said_at > said_at and contradicts(one, new)]
    return Settlement(same, ended, min(later, key=lambda one: one.said_at, default=None))


def says_the_same(old: Known, new: Statement) -> bool:
    """Whether the old fact tells all that the new statement does."""
    if _folded(old.content) == _folded(new.content):
        return True
    if not _same_subject(old.subject, new.subject) or old.attribute != new.attribute:
        return False
    if new.attribute == OTHER:
        return _overlap(old.content, new.content) >= _NEAR
    return same_value(old.value, new.value) or (is_single(new.attribute) and _contains(old.value, new.value))


def contradicts(old: Known, new: Statement) -> bool:
    """Whether only one of the two can hold: another value of an attribute that has one, or the opposite."""
    if not _same_subject(old.subject, new.subject):
        return False
    if _OPPOSITES.get(old.attribute) == new.attribute:
        return same_value(old.value, new.value)
    if old.attribute != new.attribute or not is_single(new.attribute):
        return False
    # Of two sisters one may be meant each time.
    return old.subject == new.subject and not says_the_same(old, new)


def _is_ended_by(old: Known, new: Statement) -> bool:
    if ANY in new.ends and _contains(old.content, new.value):
        return True
    if old.attribute not in new.ends or not _same_subject(old.subject, new.subject):
        return False
    if not new.value or is_single(new.attribute):
        return True
    return _contains(old.value, new.value) or _contains(new.value, old.value)


def is_single(attribute: str) -> bool:
    """Whether an attribute has one value at a time; there is one favourite of each kind."""
    return attribute in SINGLE or attribute.startswith("favourite:")


def same_value(one: str, other: str) -> bool:
    return _words(one) == _words(other) or _overlap(one, other) >= _NEAR


def _same_subject(one: str, other: str) -> bool:
    """`sister` may be `sister:mia`, and `sister:ada` is another."""
    if one == other:
        return True
    (relation, _, name), (other_relation, _, other_name) = one.partition(":"), other.partition(":")
    return relation == other_relation and not (name and other_name)


def _contains(text: str, part: str) -> bool:
    """Whether all words of the part are in the text."""
    wanted = _words(part)
    return bool(wanted) and set(wanted) <= set(_words(text))


def _overlap(one: str, other: str) -> float:
    words, others = set(_words(one)), set(_words(other))
    return len(words & others) / max(len(words | others), 1)


def _words(text: str) -> list[str]:
    words = _WORD.findall(text.casefold())
    return [word for word in words if word not in _ARTICLES] or words


def _folded(text: str) -> str:
    return "".join(_WORD.findall(text.casefold()))


def together(message_ids: Iterable[int], others: Iterable[int], most: int = 20) -> list[int]:
    """The evidence of a fact that was told again: all messages, of very many the first and the last ones."""
    every = sorted({*message_ids, *others})
    return every if len(every) <= most else [*every[: most // 2], *every[-(most // 2) :]]
