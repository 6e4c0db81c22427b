"""Remembers what functions found of texts, as `lru_cache` does, but not of long ones: a thousand would fill the memory.

A cache that counts texts and not their lengths does not bound what people send.
"""

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

OfText = TypeVar("OfText", bound=Callable[..., Any])


def remembers_short(maxsize: int, max_chars: int = 500) -> Callable[[OfText], OfText]:
    """For functions of one text."""

    def decorate(function: OfText) -> OfText:
        remembered = lru_cache(maxsize)(function)

        @wraps(function)
        def found(text: str) -> Any:
            return remembered(text) if len(text) <= max_chars else function(text)

        return cast(OfText, found)

    return decorate
