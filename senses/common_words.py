"""Which words everybody uses: what is in no list of common words may point at somebody."""

from functools import cache, lru_cache
from importlib.resources import files

import yaml

from soulgraph.senses.stemming import stemmer as _stemmer

_MAX_WORD = 64  # letters; no word is longer, and the stemmer takes quadratic time


@lru_cache(maxsize=2048)
def is_common(word: str) -> bool:
    """Whether a word, in small letters, is common; forms of an English word count as the word."""
    words = _words()
    if len(word) > _MAX_WORD:
        return False
    if not word.isascii():
        return word in words
    plain = word.partition("'")[0]
    return plain in words or _stem(plain) in words


@cache
def _words() -> frozenset[str]:
    lists: dict[str, str] = yaml.load((files(__package__) / "common_words.yaml").read_text("utf-8"), yaml.CSafeLoader)
    english = lists["en"].split()
    return frozenset([*english, *map(_stem, english), *lists["zh"].split(), *lists["zh_single"].split()])


def _stem(word: str) -> str:
    stem: str = _stemmer().stemWord(word)
    return stem
