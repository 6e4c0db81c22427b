"""Text as every sense reads it: one spelling for what means the same."""

import re
import unicodedata
from functools import cache, lru_cache

from opencc import OpenCC

HEARD = 500  # characters; what is longer than that is a story, and its beginning says what it is about

_INVISIBLE = re.compile("[\ufe0e\ufe0f\U0001f3fb-\U0001f3ff]")


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """Full-width forms, traditional characters, skin tones and curly apostrophes become plain."""
    plain = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text).replace("’", "'"))
    return plain if plain.isascii() else _simplified(plain)


@lru_cache(maxsize=4096)
def heard(text: str) -> str:
    """What the senses take in: one line, as far as an utterance goes."""
    return " ".join(normalise(text).split())[:HEARD]


def _simplified(text: str) -> str:
    simple: str = _converter().convert(text.encode("utf-8", "replace").decode())
    return simple


@cache
def _converter() -> OpenCC:
    return OpenCC("t2s")
