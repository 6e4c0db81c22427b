"""How much a prompt may say, and what is left unsaid first."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

_SENTENCE_END = re.compile(r"[。！？!?.…\n]")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_LEAST = 20
"""A shorter remainder says nothing: it is left out."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Characters, but for `profile_items`: the most important items of each profile field."""

    persona: int = 1500
    profile_items: int = 5
    memories: int = 600
    lore: int = 600


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to say and where it comes from; the least `rank` is dropped first, of equals the last."""

    text: str
    source: str = ""
    label: str = ""
    rank: Any = 0


Values = dict[str, list[Piece]]
"""The pieces of each variable."""

SHARES = {"soul_file": 1 / 5, "identity_file": 1 / 10, "user_file": 1 / 10, "style_examples": 1 / 5}
"""What of the budget these may fill while something else has to give: what was lived must not drown in them."""

_LISTS = ("slots", "profile", "wishes", "preferences")
_ORDER = (
    "slots",
    "inner_state",
    "evolved_persona",
    "profile",
    "background",
    "user_file",
    "wishes",
    "preferences",
    "identity_file",
    "soul_file",
    "base_persona",
    "style_examples",
)


def fit(values: Values, limit: int, length: Callable[[Values], int]) -> tuple[Values, bool]:
    """The values shortened until their `length` is within the limit, and whether they had to be.

    Files and style examples give what exceeds their share, then everything gives in the order above. The first
    paragraph of the base persona and what is not named there, like the mode, always stay.
    """
    if length(values) <= limit:
        return values, False
    values = values | {name: _clipped(values[name], int(limit * share)) for name, share in SHARES.items()}
    for name in _ORDER:
        step = 1
        while (over := length(values) - limit) > 0:
            shorter = _shorter(name, values[name], over * step)
            if shorter == values[name]:
                break
            # Defused, a text may be shorter than it is: then cutting it by what is too much is not enough.
            values, step = values | {name: shorter}, 2 * step
    return values, True


def _shorter(name: str, pieces: list[Piece], over: int) -> list[Piece]:
    if name in _LISTS:
        return within(pieces, sum(map(_cost, pieces)) - over)
    first = first_paragraph(pieces[0].text) if name == "base_persona" and pieces else ""
    return _clipped(pieces, sum(len(piece.text) for piece in pieces) - over, first)


def _clipped(pieces: list[Piece], size: int, kept: str = "") -> list[Piece]:
    """A text of at most `size` characters, but never without the part that is to be kept."""
    texts = (kept + cut(piece.text[len(kept) :], size - len(kept)) for piece in pieces)
    return [replace(piece, text=text) for piece, text in zip(pieces, texts, strict=True) if text]


def within(pieces: Iterable[Piece], limit: int) -> list[Piece]:
    """As many as fit, the highest rank first; what is said stays in its order."""
    pieces = list(pieces)
    kept = set()
    for at in sorted(range(len(pieces)), key=lambda at: pieces[at].rank, reverse=True):
        limit -= _cost(pieces[at])
        if limit < 0:
            break
        kept.add(at)
    return [piece for at, piece in enumerate(pieces) if at in kept]


def _cost(piece: Piece) -> int:
    """With the bullet and the line break, or the comma, around it."""
    return len(piece.text) + 3


def first_paragraph(text: str) -> str:
    return _PARAGRAPH_END.split(text, maxsplit=1)[0]


def cut(text: str, size: int) -> str:
    """At most `size` characters, to the end of a sentence if there is one near."""
    if len(text) <= size:
        return text
    if size < _LEAST:
        return ""
    ends = [match.end() for match in _SENTENCE_END.finditer(text, size * 2 // 3, size - 1)]
    return text[: ends[-1] if ends else size - 1].rstrip() + "…"
