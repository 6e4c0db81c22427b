"""Text normalisation shared by all senses."""

import re
import unicodedata
from functools import cache

from opencc import OpenCC

from soulgraph.soul.short_texts import remembers_short

MAX_CHARS = 500  # of an utterance; the beginning of a longer text says what it is about

_SHORT = 2000  # characters in which an utterance has said what it will say on one line

_INVISIBLE = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")


@remembers_short(1024)
def normalise(text: str) -> str:
    """Replaces full-width forms, traditional characters and curly apostrophes by plain ones; drops skin tones."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).replace("’", "'"))
    return plain if plain.isascii() else _simplified(plain)


def clean_utterance(text: str) -> str:
    """The normalised beginning of the text on one line, of `MAX_CHARS` at most."""
    return _one_line(text[:_SHORT])


@remembers_short(1024)
def _one_line(text: str) -> str:
    return " ".join(normalise(text).split())[:MAX_CHARS]


def _simplified(text: str) -> str:
    # Lone surrogates would make OpenCC fail.
    simplified: str = _converter().convert(text.encode("utf-8", "replace").decode())
    return simplified


@cache
def _converter() -> OpenCC:
    return OpenCC("t2s")
