"""The signs of a pattern: short pieces of text, of which every text has one in which the pattern is found.

Most of our patterns are found in few texts. A text is cut into its pieces once, and all patterns whose signs are not
among them need not be looked for.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import product
from operator import add
from typing import Any, NamedTuple

MAX_CHARS = 500  # of a text that is cut into pieces

_EDGE = "\b"  # of a word, within a string that a pattern matches
_NO_WORD = re.compile(r"\W")
_MARK = re.compile(rf"[^\w\s{_EDGE}]")
_LIKE_ASCII = str.maketrans("ſıİ", "sii")  # what `re.IGNORECASE` takes for a letter, and `lower` does not
_MAX_STRINGS = 64
_MAX_RANGE = 10
_LONGEST = 3
# How often a character stands at a place of a text, roughly.
_SHARES = dict.fromkeys("的了我你不是一", 0.03) | {
    char: share / 100
    for chars, share in (
        (" ", 18),
        (",.，。", 2),
        ("'", 1),
        ("e", 10),
        ("taoi", 7),
        ("nshr", 5),
        ("dlu", 3),
        ("mcwfgypb", 2),
        ("vkjxqz", 0.5),
        ("0123456789", 0.2),
    )
    for char in chars
}
_OTHER_SHARE = 0.005
_MAX_SHARE = 0.03  # of the places of a text that have a sign: with more, most texts would have one

Strings = frozenset[str]


class _Needs(NamedTuple):
    """`all`: every string that a part of a pattern matches, if they are few. `some`: it has one of them within it."""

    all: Strings | None = None
    some: Strings | None = None


_ANYTHING = _Needs()
_NOTHING = Strings([""])


def signs_of(expression: str, flags: int) -> Strings:
    """In lower case, with a space for all that is in no word, or a mark alone; empty if none are rare enough."""
    from soulgraph.compat import parsed_pattern  # which imports a lot that few patterns are worth

    parsed = parsed_pattern(expression, flags)
    if parsed.state.flags & (re.ASCII | re.LOCALE):  # words are something else to it
        return Strings()
    needs = _needs_of_sequence(parsed)
    signs = _rarest([needs.some, _signs(needs.all)])
    return signs if signs and _are_rare(signs) else Strings()


@lru_cache(maxsize=32)
def pieces_of(text: str) -> Strings:
    """All that may be a sign in a text."""
    plain = text if text.isascii() else text.translate(_LIKE_ASCII)
    plain = plain.lower()
    words = f" {_NO_WORD.sub(' ', plain)} "
    pairs = [*map(add, words, words[1:])]
    return Strings((" ", *plain, *pairs, *map(add, pairs, words[2:])))


class SignIndex:
    """The signs of many things, which are known by their numbers."""

    def __init__(self, signs: Sequence[Strings]) -> None:
        by_sign: defaultdict[str, list[int]] = defaultdict(list)
        for number, some in enumerate(signs):
            for sign in some:
                by_sign[sign].append(number)
        self._by_sign = dict(by_sign)
        self._all = range(len(signs))
        self._unsigned = [number for number in self._all if not signs[number]]

    def candidates(self, text: str) -> Sequence[int]:
        """Those of which the text has a sign, and those without signs, in their order."""
        if len(text) > MAX_CHARS:
            return self._all
        found = {number for sign in self._by_sign.keys() & pieces_of(text) for number in self._by_sign[sign]}
        return sorted(found.union(self._unsigned))


def _needs_of_sequence(parts: Iterable[tuple[Any, Any]]) -> _Needs:
    """`run` are the strings that may stand where the last parts are, one after the other."""
    run, whole = _NOTHING, True
    found: list[Strings | None] = []
    for name, value in parts:
        needs, repeats = _needs_of(str(name), value)
        longer = _joined(run, needs.all)
        if longer is None or repeats:
            whole = False
            found += [_signs(longer or run), needs.some]
            longer = needs.all or _NOTHING
        run = longer
    return _Needs(run if whole else None, _rarest([*found, _signs(run)]))


def _needs_of(name: str, value: Any) -> tuple[_Needs, bool]:
    """What a part needs, and whether there may be more of it than is said there."""
    match name:
        case "LITERAL":
            return _Needs(_one_of([value])), False
        case "IN":
            return _Needs(_one_of_set(value)), False
        case "AT":
            return _Needs(Strings([_EDGE]) if str(value) == "AT_BOUNDARY" else _NOTHING), False
        case "ASSERT" | "ASSERT_NOT":
            return _Needs(_NOTHING), False
        case "SUBPATTERN" if not value[1] & re.ASCII:
            return _needs_of_sequence(value[-1]), False
        case "ATOMIC_GROUP":
            return _needs_of_sequence(value), False
        case "BRANCH":
            return _needs_of_branches([_needs_of_sequence(branch) for branch in value[1]]), False
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return _needs_of_repeat(*value)
    return _ANYTHING, False


def _needs_of_branches(branches: Sequence[_Needs]) -> _Needs:
    every = _united(branch.all for branch in branches)
    some = _united(_rarest([branch.some, _signs(branch.all)]) for branch in branches)
    return _Needs(every if every and len(every) <= _MAX_STRINGS else None, some)


def _needs_of_repeat(least: int, most: int, part: Iterable[tuple[Any, Any]]) -> tuple[_Needs, bool]:
    needs = _needs_of_sequence(part)
    if least == 0:
        return (_Needs(needs.all and needs.all | _NOTHING) if most == 1 else _ANYTHING), False
    return needs, most > 1


def _one_of(codes: Iterable[int]) -> Strings | None:
    """The characters in lower case; None if `re.IGNORECASE` may take more for one of them than `lower`."""
    chars = Strings(chr(code).lower() for code in codes)
    return None if any(char.upper() != char and not char.isascii() for char in chars) else chars


def _one_of_set(members: Sequence[tuple[Any, Any]]) -> Strings | None:
    found = []
    for name, value in members:
        if str(name) == "LITERAL":
            found.append(_one_of([value]))
        elif str(name) == "RANGE" and value[1] - value[0] < _MAX_RANGE:
            found.append(_one_of(range(value[0], value[1] + 1)))
        else:
            found.append(Strings([" "]) if str(value) in ("CATEGORY_SPACE", "CATEGORY_NOT_WORD") else None)
    return _united(found)


def _joined(ones: Strings, others: Strings | None) -> Strings | None:
    if others is None or len(ones) * len(others) > _MAX_STRINGS:
        return None
    return Strings(map("".join, product(ones, others)))


def _united(sets: Iterable[Strings | None]) -> Strings | None:
    """None if one of them is not known."""
    known = [*sets]
    return None if None in known else Strings().union(*filter(None, known))


def _signs(strings: Strings | None) -> Strings | None:
    """The rarest piece of each; None if one of them has none."""
    pieces = [_rarest_piece(string) for string in strings or ()]
    return Strings(pieces) if pieces and all(pieces) else None


@lru_cache(maxsize=4096)
def _rarest_piece(string: str) -> str:
    """At the ends of the string, the edge of a word is a space beside its letter."""
    marks: list[str] = _MARK.findall(string)
    inner = _NO_WORD.sub(" ", string.replace(_EDGE, ""))
    before = " " if string.startswith(_EDGE) and inner[:1].strip() else ""
    after = " " if string.endswith(_EDGE) and inner[-1:].strip() else ""
    words = f"{before}{inner}{after}"
    length = min(len(words), _LONGEST)
    pieces = [*marks, *(words[at : at + length] for at in range(len(words) - length + 1))]
    return min(pieces, key=_share_of)


def _rarest(sets: Iterable[Strings | None]) -> Strings | None:
    return min(filter(None, sets), key=_share, default=None)


def _are_rare(signs: Strings) -> bool:
    """In one of our languages: a text in it has none of the other's signs."""
    english = Strings(filter(str.isascii, signs))
    return min(_share(english), _share(signs - english)) <= _MAX_SHARE


def _share(pieces: Strings) -> float:
    return sum(map(_share_of, pieces))


@lru_cache(maxsize=4096)
def _share_of(piece: str) -> float:
    share = 1.0
    for char in piece:
        share *= _SHARES.get(char, _OTHER_SHARE)
    return share
