r"""Regexes that come from outside: compiled once, and refused when matching them could take long.

A backtracking matcher may try every combination of the choices a pattern leaves: how often to repeat, which
branch to take. A choice that the next character decides (`\s+the`, `(on|the)`) is free; the others multiply,
so their sum in bits is limited, and a group that leaves a choice must not be repeated at all.
"""

import math
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

REACH = 120  # characters of an utterance a pattern gets to see
MOST_CHOICE_BITS = 17

_TOKEN = re.compile(
    r"""(?P<nothing>\(\?[aiLmsu]+\)|\(\?\#[^)]*\)|\\[bBAZ]|[\^$])
      | (?P<atom>\(\?P=\w+\)|\\(?:x..|u.{4}|U.{8}|N\{.*?\}|\d+|.)|\[\^?\]?(?:\\.|[^\]\\])*\]|\.)
      | (?P<look>\(\?<?[=!])
      | (?P<open>\((?:\?(?:P<\w+>|>|[aiLmsu-]*:))?)
      | (?P<close>\))
      | (?P<bar>\|)
      | (?P<repeat>(?:[*+?]|\{\d+\}|\{\d*,\d*\})[?+]?)
      | (?P<char>.)""",
    re.VERBOSE | re.DOTALL,
)
_UNSUPPORTED = re.compile(r"\(\?(?:\(|[a-zA-Z]*x)")
_SAMPLES = string.printable + "一二开灯，。"


class UnsafePattern(ValueError):
    """A pattern that does not compile, or that could keep the matcher busy for too long."""


@dataclass
class _Part:
    """An atom, or (without one) a group; `low` and `high` say how often it may occur."""

    atom: str = ""
    low: int = 1
    high: int = 1
    branches: list[list["_Part"]] = field(default_factory=lambda: [[]])

    @property
    def leaves_choice(self) -> bool:
        inside = (part for branch in self.branches for part in branch)
        return len(self.branches) > 1 or any(p.low != p.high or p.leaves_choice for p in inside)


@lru_cache(maxsize=4096)
def compiled(source: str) -> re.Pattern[str]:
    try:
        pattern = re.compile(source, re.IGNORECASE)
        if _UNSUPPORTED.search(source):
            raise UnsafePattern("conditional groups and verbose patterns are not supported")
        if choice_bits(source) > MOST_CHOICE_BITS:
            raise UnsafePattern("leaves too much open: too many repeats, options and alternatives")
    except (re.error, OverflowError, RecursionError) as error:
        raise UnsafePattern(f"does not compile ({error})") from error
    return pattern


def choice_bits(source: str) -> float:
    return _bits(_parse(source), frozenset())


def _parse(source: str) -> _Part:
    whole = _Part()
    groups = [whole]
    for token in _TOKEN.finditer(source):
        branch = groups[-1].branches[-1]
        match token.lastgroup:
            case "open" | "look":
                groups.append(_Part(low=0 if token.lastgroup == "look" else 1))
                branch.append(groups[-1])
            case "close":
                groups.pop()
            case "bar":
                groups[-1].branches.append([])
            case "repeat":
                _repeat(branch[-1], token[0])
            case "atom":
                branch.append(_Part(token[0]))
            case "char":
                branch.append(_Part(re.escape(token[0])))
    return whole


def _repeat(part: _Part, quantifier: str) -> None:
    part.low, part.high = _bounds(quantifier)
    if part.high > 1 and part.leaves_choice:
        raise UnsafePattern("repeats a group that itself holds repeats or alternatives, like (a+)+ or (a|b)*")


def _bounds(quantifier: str) -> tuple[int, int]:
    if quantifier[0] != "{":
        return (1 if quantifier[0] == "+" else 0), (1 if quantifier[0] == "?" else REACH)
    low, comma, high = quantifier.rstrip("?+")[1:-1].partition(",")
    return int(low or 0), int(high or REACH) if comma else int(low)


def _bits(part: _Part, after: frozenset[str]) -> float:
    """The undecided choices of a part when one of the atoms `after` may follow it."""
    heads, _ = _heads([part])
    occurrences = min(max(part.high - part.low, 0), REACH) + 1 if _overlap(heads, after) else 1
    firsts = [_heads(branch, after)[0] for branch in part.branches]
    branches = len(firsts) if any(_overlap(a, b) for a, b in combinations(firsts, 2)) else 1
    inside = sum(_bits(inner, follow) for branch in part.branches for inner, follow in _pairs(branch, after))
    return math.log2(occurrences * branches) + inside


def _pairs(branch: list[_Part], after: frozenset[str]) -> Iterator[tuple[_Part, frozenset[str]]]:
    """Each part of a branch with the atoms that may follow it."""
    for i, part in enumerate(branch):
        yield part, _heads(branch[i + 1 :], after)[0]


def _heads(parts: list[_Part], after: frozenset[str] = frozenset()) -> tuple[frozenset[str], bool]:
    """The atoms a sequence may begin with, those `after` it included if it may be empty; and whether it may."""
    heads: frozenset[str] = frozenset()
    for part in parts:
        inner = [(frozenset({part.atom}), False)] if part.atom else [_heads(b) for b in part.branches]
        heads = heads.union(*(atoms for atoms, _ in inner))
        if part.low > 0 and not any(empty for _, empty in inner):
            return heads, False
    return heads | after, True


def _overlap(some: frozenset[str], others: frozenset[str]) -> bool:
    return any(_share_a_character(one, other) for one in some for other in others)


@lru_cache(maxsize=4096)
def _share_a_character(one: str, other: str) -> bool:
    if _refers_back(one) or _refers_back(other):
        return True
    first, second = re.compile(one, re.IGNORECASE), re.compile(other, re.IGNORECASE)
    return any(first.fullmatch(c) and second.fullmatch(c) for c in _SAMPLES + one + other)


def _refers_back(atom: str) -> bool:
    return atom.startswith("(?P=") or atom[1:].isdigit()
