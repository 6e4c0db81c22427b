"""Text normalisation shared by all senses."""

import re
import unicodedata
from functools import cache, lru_cache

from opencc import OpenCC

MAX_CHARS = 500  # of an utterance; the beginning of a longer text says what it is about

_SHORT = 2000  # characters of a text that is remembered: thousands of long ones would fill the memory

_INVISIBLE = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")


def normalise(text: str) -> str:
    """Replaces full-width forms, traditional characters and curly apostrophes by plain ones; drops skin tones."""
    return _remembered(text) if len(text) <= _SHORT else _normalised(text)


def _normalised(text: str) -> str:
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).replace("’", "'"))
    return plain if plain.isascii() else _simplified(plain)


_remembered = lru_cache(maxsize=4096)(_normalised)


def clean_utterance(text: str) -> str:
    """The normalised beginning of the text on one line, of `MAX_CHARS` at most."""
    return _one_line(text[:_SHORT])


@lru_cache(maxsize=4096)
def _one_line(text: str) -> str:
    return " ".join(normalise(text).split())[:MAX_CHARS]


def _simplified(text: str) -> str:
    # Lone surrogates would make OpenCC fail.
    simplified: str = _converter().convert(text.encode("utf-8", "replace").decode())
    return simplified


@cache
def _converter() -> OpenCC:
    return OpenCC("t2s")
