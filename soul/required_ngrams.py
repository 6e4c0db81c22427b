"""The n-grams that a pattern requires: short pieces of text, without which it is not found in a text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

Strings = frozenset[str]
Ngrams = tuple[Strings, ...]
"""A text in which the pattern is found has one of each set."""
Part = tuple[Any, Any]
"""Of a regular expression: what it is, and what it consists of."""

_EDGE = "\b"  # of a word, within a string that a pattern matches
_NO_WORD = re.compile(r"\W")
_MARK = re.compile(rf"[^\w\s{_EDGE}]")
_MAX_STRINGS = 64
_MAX_RANGE = 10
_LONGEST = 3  # of a piece
_MAX_SETS = 3
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
# Those of words that stand everywhere are more common than their letters.
_COMMON = frozenset(
    """ th|the|he |ing|ng | i |at |is |me | to| an|nd | yo|you|er |re | a |hat|to |ed |it |tha|and|on |n t|ou | it|thi
    | in|ly | be| ha| re|st |ame| is|es |ve | so|in | wh|ll | no| of|or | he|en | co| wa|ut |as |for| fo| on|his|of |an
    |her| do|all| lo| wi| li| st| ca|ot | wo| me| go| ma|ver|rea| we|ere|ent|one|are|not|out| my|my |was|wit|ell|uld
    |bou|did|mor""".replace("\n    ", "").split("|")
)
_COMMON_SHARE = 0.003
_MAX_SHARE = 0.05  # of the places of a text that have one: with more, most texts would have one


class _Needs(NamedTuple):
    """`all`: every string that a part of a pattern matches, if they are few; `ngrams` are the rarest first."""

    all: Strings | None = None
    ngrams: Ngrams = ()


_EMPTY: Part = ("", ())
_ANYTHING = _Needs()
_IMPOSSIBLE = _Needs(Strings(), (Strings(),))
_NOTHING = Strings([""])


def ngrams_of(expression: str, flags: int) -> Sequence[Ngrams]:
    """One for each alternative of a pattern; none at all if an alternative has none, or they are too common.

    They are in lower case, with a space for what is in no word; a mark is one by itself.
    """
    from soulgraph.compat import parsed_pattern  # which imports a lot that few patterns are worth

    parsed = parsed_pattern(expression, flags)
    if parsed.state.flags & (re.ASCII | re.LOCALE):  # words are something else to it
        return ()
    ngrams = [_needs_of_sequence(parts).ngrams for parts in _alternatives([*parsed])]
    return ngrams if all(ngrams) and _are_rare(Strings().union(*(some[0] for some in ngrams))) else ()


def _alternatives(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """Of a sequence that ends with alternatives, one sequence for each."""
    name, value = parts[-1] if parts else _EMPTY
    if str(name) == "BRANCH":
        for branch in value[1]:
            yield from _alternatives([*parts[:-1], *branch])
    elif str(name) == "SUBPATTERN" and not value[1] & re.ASCII:
        yield from _alternatives([*parts[:-1], *value[-1]])
    else:
        yield parts


def _needs_of_sequence(parts: Iterable[Part]) -> _Needs:
    """`run` are the strings that may stand where the last parts are, one after the other."""
    run, whole = _NOTHING, True
    found: list[Strings | None] = []
    for name, value in parts:
        needs, repeats = _needs_of(str(name), value)
        if needs is _IMPOSSIBLE:
            return needs
        longer = _joined(run, needs.all)
        if longer is None or repeats:
            whole = False
            found += [_pieces(longer or run), *needs.ngrams]
            longer = needs.all or _NOTHING
        run = longer
    ngrams = sorted({*filter(None, [*found, _pieces(run)])}, key=_share)
    return _Needs(run if whole else None, tuple(ngrams[:_MAX_SETS]))


def _needs_of(name: str, value: Any) -> tuple[_Needs, bool]:
    """What a part needs, and whether there may be more of it than is said there."""
    match name:
        case "LITERAL":
            return _Needs(_char(value)), False
        case "IN":
            return _Needs(_one_of_set(value)), False
        case "AT":
            return _Needs(Strings([_EDGE]) if str(value) == "AT_BOUNDARY" else _NOTHING), False
        case "ASSERT_NOT" if not value[1]:  # what is not followed by nothing
            return _IMPOSSIBLE, False
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
    ngrams = _united(branch.ngrams[0] if branch.ngrams else None for branch in branches)
    return _Needs(every if every and len(every) <= _MAX_STRINGS else None, (ngrams,) if ngrams else ())


def _needs_of_repeat(least: int, most: int, part: Iterable[Part]) -> tuple[_Needs, bool]:
    needs = _needs_of_sequence(part)
    if least:
        return needs, most > 1
    return (_ANYTHING if needs.all is None or most > 1 else _Needs(needs.all | _NOTHING)), False


@lru_cache(maxsize=4096)
def _char(code: int) -> Strings | None:
    """A character in lower case; None if `re.IGNORECASE` may take more for it than `lower`."""
    char = chr(code).lower()
    return Strings([char]) if char != _EDGE and (char.isascii() or char.upper() == char) else None


def _one_of_set(members: Sequence[Part]) -> Strings | None:
    found: list[Strings | None] = []
    for name, value in members:
        if str(name) == "LITERAL":
            found.append(_char(value))
        elif str(name) == "RANGE" and value[1] - value[0] < _MAX_RANGE:
            found += map(_char, range(value[0], value[1] + 1))
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


def _pieces(strings: Strings | None) -> Strings | None:
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


def _are_rare(ngrams: Strings) -> bool:
    """In one of our languages: a text in it has none of the other's ngrams."""
    english = Strings(filter(str.isascii, ngrams))
    return min(_share(english), _share(ngrams - english)) <= _MAX_SHARE


def _share(pieces: Strings) -> float:
    return sum(map(_share_of, pieces))


@lru_cache(maxsize=4096)
def _share_of(piece: str) -> float:
    if piece in _COMMON:
        return _COMMON_SHARE
    share = 1.0
    for char in piece:
        share *= _SHARES.get(char, _OTHER_SHARE)
    return share
