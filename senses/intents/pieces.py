"""Long computations in pieces: other work gets its turn between two, and who is cancelled stops at the next."""

import asyncio
from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")

Pieces = Generator[None, None, T]
"""Pauses after each piece, and returns the result at last."""


async def in_threads(pieces: Pieces[T], turns: asyncio.Lock) -> T:
    """Runs each piece in a thread. Who shares `turns` takes turns: a short computation does not wait for a long one."""
    while True:
        async with turns:
            result = await asyncio.to_thread(_next, pieces)
        if result:
            return result[0]


def at_once(pieces: Pieces[T]) -> T:
    while True:
        if result := _next(pieces):
            return result[0]


def _next(pieces: Pieces[T]) -> tuple[T] | None:
    """Runs the next piece; the result after the last one."""
    try:
        next(pieces)
    except StopIteration as end:
        return (end.value,)
    return None
