"""How much texts have changed: by their meaning, or by their words where no vectors can be had."""

from collections.abc import Sequence
from typing import Literal

from soulgraph.errors import SenseUnavailable
from soulgraph.senses.ports import Embedder
from soulgraph.senses.tokenizer import terms_of

Measure = Literal["meaning", "words"]
Pair = tuple[str, str]
"""A text before and after."""


async def distances(pairs: Sequence[Pair], embedder: Embedder | None) -> tuple[list[float], Measure]:
    """From 0 (the same) to 1 for each pair, and how it was measured."""
    try:
        by_meaning = await _by_meaning(pairs, embedder) if embedder else None
    except SenseUnavailable:
        by_meaning = None
    if by_meaning is None:
        return [_changed(pair, _by_words(*pair)) for pair in pairs], "words"
    return by_meaning, "meaning"


async def _by_meaning(pairs: Sequence[Pair], embedder: Embedder) -> list[float]:
    """1 minus the cosine; vectors have length 1."""
    texts = list(dict.fromkeys(text for pair in pairs for text in pair if text))
    vectors = dict(zip(texts, await embedder.embed(texts), strict=True)) if texts else {}
    return [_changed(pair, 1 - float(vectors[pair[0]] @ vectors[pair[1]]) if all(pair) else 1.0) for pair in pairs]


def _by_words(before: str, after: str) -> float:
    """The share of all their terms that only one of them has."""
    one, other = set(terms_of(before)), set(terms_of(after))
    return 1 - len(one & other) / len(one | other) if one | other else 1.0


def _changed(pair: Pair, distance: float) -> float:
    return 0.0 if pair[0] == pair[1] else round(min(max(distance, 0.0), 1.0), 4)
