"""The budget of a prompt, and how its variables are shortened to fit."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

_SENTENCE_END = re.compile(r"[。！？!?.…\n]")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_MIN_REMAINDER = 20
"""Characters; a text that would be cut shorter is left out."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits in characters; `profile_items` is the number of items per profile field."""

    persona: int = 1500
    profile_items: int = 5
    memories: int = 600
    lore: int = 600


@dataclass(frozen=True, slots=True)
class Piece:
    """One text of a variable and its source; the lowest `rank` is dropped first, the last one among equals."""

    text: str
    source: str = ""
    label: str = ""
    rank: Any = 0


Values = dict[str, list[Piece]]
"""The pieces of each variable."""

SHARES = {"soul_file": 1 / 9, "identity_file": 1 / 14, "user_file": 1 / 14, "style_examples": 1 / 6}
"""The shares of the budget that files and examples may take once it is exceeded, so that memories keep their room."""

_LIST_VARIABLES = ("slots", "profile", "wishes", "preferences")
_CUT_ORDER = (
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

    Files and style examples are cut to their shares, then variables are shortened in the order of `_CUT_ORDER`. The
    first paragraph of the base persona and what is not listed, like the mode and the personality, are never cut.
    """
    if length(values) <= limit:
        return values, False
    values = values | {name: _cut_pieces(values[name], int(limit * share)) for name, share in SHARES.items()}
    for name in _CUT_ORDER:
        step = 1
        while (over := length(values) - limit) > 0:
            shorter = _shortened(name, values[name], over * step)
            if shorter == values[name]:
                break
            # `length` measures defused text, which may be shorter: cutting by the excess is then not enough.
            values, step = values | {name: shorter}, 2 * step
    return values, True


def _shortened(name: str, pieces: list[Piece], over: int) -> list[Piece]:
    if name in _LIST_VARIABLES:
        return fit_pieces(pieces, sum(map(_cost, pieces)) - over)
    first = first_paragraph(pieces[0].text) if name == "base_persona" and pieces else ""
    return _cut_pieces(pieces, sum(len(piece.text) for piece in pieces) - over, first)


def _cut_pieces(pieces: list[Piece], size: int, kept: str = "") -> list[Piece]:
    """Each piece cut to `size` characters, but never below its beginning `kept`; empty ones are dropped."""
    texts = (kept + cut(piece.text[len(kept) :], size - len(kept)) for piece in pieces)
    return [replace(piece, text=text) for piece, text in zip(pieces, texts, strict=True) if text]


def fit_pieces(pieces: Iterable[Piece], limit: int) -> list[Piece]:
    """As many pieces as fit into `limit`, the highest rank first, in their original order."""
    pieces = list(pieces)
    kept = set()
    for at in sorted(range(len(pieces)), key=lambda at: pieces[at].rank, reverse=True):
        limit -= _cost(pieces[at])
        if limit < 0:
            break
        kept.add(at)
    return [piece for at, piece in enumerate(pieces) if at in kept]


def _cost(piece: Piece) -> int:
    """The length of a piece with its bullet and line break, or its comma."""
    return len(piece.text) + 3


def first_paragraph(text: str) -> str:
    return _PARAGRAPH_END.split(text, maxsplit=1)[0]


def cut(text: str, size: int) -> str:
    """The text cut to `size` characters, at the end of a sentence if there is one near; empty if `size` is tiny."""
    if len(text) <= size:
        return text
    if size < _MIN_REMAINDER:
        return ""
    ends = [match.end() for match in _SENTENCE_END.finditer(text, size * 2 // 3, size - 1)]
    return text[: ends[-1] if ends else size - 1].rstrip() + "…"
