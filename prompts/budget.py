"""The budget of a prompt, and how its variables share it when they are too long."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

_SENTENCE_END = re.compile(r"[。！？!?.…\n]")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_MIN_REMAINDER = 20
"""Characters; a text that would be cut shorter is left out."""
_SEPARATOR = 3
"""Characters of a piece's bullet and line break, or of its comma."""
_NEAR = 80
"""Characters before the end of a cut text in which the end of a sentence is looked for."""

DEFAULT_PERSONA_BUDGET = 6000
_MIN_PERSONA_BUDGET = 1000


def budget_for(configured: int, context_tokens: int | None) -> int:
    """The characters of the persona: at most a quarter of the model's context, if that is known.

    A Chinese character may take a whole token, so tokens are counted as characters.
    """
    if context_tokens is None:
        return configured
    return min(configured, max(_MIN_PERSONA_BUDGET, context_tokens // 4))


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits in characters; `profile_items` is the number of items per profile field."""

    persona: int = DEFAULT_PERSONA_BUDGET
    profile_items: int = 5
    memories: int = 600
    lore: int = 600

    @classmethod
    def for_persona(cls, persona: int, profile_items: int = 5) -> Self:
        """Memories and lore shrink with a persona budget below the default: the model's context is small then."""
        others = 600 * min(persona, DEFAULT_PERSONA_BUDGET) // DEFAULT_PERSONA_BUDGET
        return cls(persona, profile_items, memories=others, lore=others)


@dataclass(frozen=True, slots=True)
class Piece:
    """One text of a variable and its source; the lowest `rank` is dropped first, the last one among equals.

    `keep` is the length of its beginning that is to stay whole: it comes before what others get beyond their least.
    """

    text: str
    source: str = ""
    label: str = ""
    rank: Any = 0
    keep: int = 0


Values = dict[str, list[Piece]]
"""The pieces of each variable."""
Length = Callable[[Values], int]
"""The length of the prompt that values are rendered to."""

GIVEN: Mapping[str, int] = {
    "base_persona": 8,
    "soul_file": 4,
    "user_file": 2,
    "identity_file": 2,
    "background": 3,
    "background_description": 2,
    "world_rules": 2,
    "style_examples": 3,
}
GROWN: Mapping[str, int] = {
    "preferences": 3,
    "evolved_persona": 4,
    "inner_state": 4,
    "relation": 4,
    "profile": 3,
    "slots": 4,
    "wishes": 2,
}
"""Shares of what was written for the soul, and of what it has become, among their like; the most important first."""
_SHARES = {**GIVEN, **GROWN}
_LISTS = frozenset({"preferences", "profile", "slots", "wishes"})
_KEPT_LONGEST = tuple(dict.fromkeys(("base_persona", *GROWN, *GIVEN)))


class _Claim(NamedTuple):
    """Characters that a text needs, that it gets at the least, and that come before all further ones of others."""

    need: int
    least: int
    keep: int
    share: int = 1


def fit(values: Values, limit: int, length: Length) -> tuple[Values, list[str]]:
    """The values shortened until their `length` is within the limit, and the names of those that had to be.

    Every variable keeps its share; what it does not need goes to the others. What the soul has become keeps a third.
    A variable is left out as a whole only if the limit is too small for a few words of each. What has no share, like
    the mode and the personality, is never cut.
    """
    # Measuring is slow, and what is much too long need not be measured.
    if sum(map(_need, values.values())) <= 4 * limit and length(values) <= limit:
        return values, []
    left = values
    fitted = _share_limit(left, limit, length)
    for name in reversed(_KEPT_LONGEST):
        if length(fitted) <= limit:
            break
        left = left | _emptied(name)
        fitted = _share_limit(left, limit, length)
    return fitted, [name for name in values if fitted[name] != values[name]]


def _share_limit(values: Values, limit: int, length: Length) -> Values:
    given = _shorten(values | _emptied(*GROWN, "mood"), GIVEN, limit - _reserve(values, limit, length), length)
    return _shorten(values | {name: given[name] for name in GIVEN if name in given}, GROWN, limit, length)


def _reserve(values: Values, limit: int, length: Length) -> int:
    """The characters kept free for growth and mood: what they need, up to three eighths of the limit.

    More than a third, because whole sentences and items never fill their place. Rounded up, so that the beginning of
    the prompt, which providers cache, does not change with every word they gain.
    """
    only_grown = values | _emptied(*GIVEN)
    needed = length(only_grown) - length(only_grown | _emptied(*GROWN, "mood"))
    step = limit // 12 + 1
    return min(limit * 3 // 8, -(-needed // step) * step)


def _emptied(*names: str) -> Values:
    return {name: [] for name in names}


def _shorten(values: Values, names: Iterable[str], limit: int, length: Length) -> Values:
    """The values with these variables shortened until all are within the limit, or nothing more can be cut."""
    names = [name for name in names if values.get(name)]
    room = max(0, min(limit, sum(_need(values[name]) for name in names)))
    step = 1
    while (over := length(shorter := _share_room(values, names, room)) - limit) > 0 and room > 0:
        # Defusing changes lengths: it may take more than cutting by the excess.
        room, step = max(0, room - over * step), 2 * step
    return shorter


def _share_room(values: Values, names: Sequence[str], room: int) -> Values:
    """The values with these variables cut to their shares of the room."""
    # Lists first: what whole items leave over goes to the texts.
    for in_turn in (_LISTS, _SHARES.keys() - _LISTS):
        sizes = dict(zip(names, _allot(_claims(values, names, room), room), strict=True))
        values = values | {name: _cut_to(name, values[name], sizes[name]) for name in names if name in in_turn}
    return values


def _claims(values: Values, names: Sequence[str], room: int) -> list[_Claim]:
    """Each variable has a few words at the least, and half of its share of the room."""
    shares = sum(_SHARES[name] for name in names)
    return [_claim(name, values[name], room * _SHARES[name] // (2 * shares)) for name in names]


def _claim(name: str, pieces: Sequence[Piece], half_share: int) -> _Claim:
    always = sorted(pieces, key=lambda piece: piece.rank, reverse=True)[:1] if name in _LISTS else pieces
    least = max(sum(map(_least, always)), half_share)
    return _Claim(_need(pieces), least, sum(piece.keep for piece in pieces), _SHARES[name])


def _cut_to(name: str, pieces: Sequence[Piece], size: int) -> list[Piece]:
    return fit_pieces(pieces, size) if name in _LISTS else _cut_texts(pieces, size)


def _cut_texts(pieces: Sequence[Piece], size: int) -> list[Piece]:
    """Each piece with its share of `size` characters."""
    claims = [_Claim(_cost(piece), _least(piece), min(piece.keep, size // 2)) for piece in pieces]
    texts = [cut(piece.text, given - _SEPARATOR) for piece, given in zip(pieces, _allot(claims, size), strict=True)]
    return [replace(piece, text=text) for piece, text in zip(pieces, texts, strict=True) if text]


def _allot(claims: Sequence[_Claim], room: int) -> list[int]:
    """The least for each, then what is to be kept, then shares of the rest: who needs less leaves it to the others."""
    given = [min(claim.need, claim.least) for claim in claims]
    room = max(0, room - sum(given))
    for at, claim in enumerate(claims):
        more = min(max(0, claim.keep - given[at]), room)
        given[at] += more
        room -= more
    shares = sum(claim.share for claim in claims)
    for at in sorted(range(len(claims)), key=lambda at: (claims[at].need - given[at]) / claims[at].share):
        more = min(claims[at].need - given[at], room * claims[at].share // shares)
        given[at] += more
        room -= more
        shares -= claims[at].share
    return given


def fit_pieces(pieces: Iterable[Piece], limit: int) -> list[Piece]:
    """As many pieces as fit into `limit`, the highest rank first, in their original order.

    The best one is cut if it does not fit.
    """
    pieces = list(pieces)
    kept: dict[int, Piece] = {}
    for at in sorted(range(len(pieces)), key=lambda at: pieces[at].rank, reverse=True):
        piece = pieces[at] if kept else replace(pieces[at], text=cut(pieces[at].text, limit - _SEPARATOR))
        limit -= _cost(piece)
        if limit < 0 or not piece.text:
            break
        kept[at] = piece
    return [kept[at] for at in sorted(kept)]


def _cost(piece: Piece) -> int:
    return len(piece.text) + _SEPARATOR


def _need(pieces: Iterable[Piece]) -> int:
    return sum(map(_cost, pieces))


def _least(piece: Piece) -> int:
    """What is left of a piece at the least: a few words, after its heading if it has one."""
    heading = len(piece.label) if piece.text.startswith(piece.label) else 0
    return min(_cost(piece), heading + _MIN_REMAINDER + _SEPARATOR)


def first_paragraph(text: str) -> str:
    return _PARAGRAPH_END.split(text, maxsplit=1)[0]


def cut(text: str, size: int) -> str:
    """The text cut to `size` characters, at the end of a sentence if there is one near; empty if `size` is tiny."""
    if len(text) <= size:
        return text
    if size < _MIN_REMAINDER:
        return ""
    ends = [match.end() for match in _SENTENCE_END.finditer(text, max(size * 2 // 3, size - _NEAR), size - 1)]
    return text[: ends[-1] if ends else size - 1].rstrip() + "…"
