"""Vectors of passages. The embedder reads the beginning of an utterance; a passage is read to its end, in pieces."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

import numpy as np

from soulgraph.senses.embedding.batching import MAX_BATCH
from soulgraph.senses.embedding.local import NAME, count_tokens
from soulgraph.senses.ports import Embedder, Vectors
from soulgraph.senses.text import MAX_CHARS, normalise

_SHORTEST = MAX_CHARS // 2
"""A piece that would be shorter ends with a word rather than with its sentence."""
_END = re.compile(r"[.!?](?=\s)|[。！？…]")


@dataclass(frozen=True, slots=True)
class Piece:
    passage: int
    text: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """Of one passage: its vector, and how many tokens the built-in encoder read, 0 if another one did."""

    vector: Vectors
    tokens: int


async def embed_passages(embedder: Embedder, passages: Sequence[str]) -> AsyncIterator[Embedded]:
    """One for each passage, in order; raises SenseUnavailable.

    Few pieces are asked for at a time, so that a turn which needs a vector meanwhile need not wait for all of them.
    """
    read: list[tuple[Piece, Vectors, int]] = []
    pieces = (Piece(at, piece) for at, passage in enumerate(passages) for piece in pieces_of(passage))
    while batch := list(islice(pieces, MAX_BATCH)):
        texts = [piece.text for piece in batch]
        vectors = await embedder.embed(texts)
        read += zip(batch, vectors, await _tokens(embedder, texts), strict=True)
        whole = [one for one in read if one[0].passage < batch[-1].passage]
        for one in _joined(whole):
            yield one
        read = read[len(whole) :]
    for one in _joined(read):
        yield one


def pieces_of(passage: str) -> Iterator[str]:
    """The passage in pieces of `MAX_CHARS` at most, which end with a sentence or a word if they can."""
    rest = " ".join(normalise(passage).split())
    while len(rest) > MAX_CHARS:
        at = _last_end(rest[:MAX_CHARS])
        yield rest[:at]
        rest = rest[at:].lstrip()
    yield rest


def _last_end(text: str) -> int:
    ends = [found.end() for found in _END.finditer(text) if found.end() >= _SHORTEST]
    return ends[-1] if ends else max(text.rfind(" "), 0) or len(text)


async def _tokens(embedder: Embedder, texts: Sequence[str]) -> list[int]:
    if embedder.name != NAME:
        return [0] * len(texts)
    return await asyncio.to_thread(count_tokens, texts)


def _joined(read: Sequence[tuple[Piece, Vectors, int]]) -> Iterator[Embedded]:
    """The pieces of each passage as one: their mean, in which longer ones weigh more."""
    for _, group in groupby(read, lambda one: one[0].passage):
        pieces, vectors, tokens = zip(*group, strict=True)
        weights = [len(piece.text) or 1 for piece in pieces]
        yield Embedded(scaled(np.average(vectors, axis=0, weights=weights)), sum(tokens))


def scaled(vector: Vectors) -> Vectors:
    """The vector with length 1."""
    return np.asarray(vector / (np.linalg.norm(vector) or 1), dtype=np.float32)
