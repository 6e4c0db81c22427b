"""Finds proper names in texts, and replaces them in what others may read."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from soulgraph.senses.common_words import is_common
from soulgraph.soul import name_words
from soulgraph.soul.language import Lang
from soulgraph.voices.offline_parsing import introduced_name

ROLE = {"zh": "某人", "en": "someone"}


def names_in(texts: Iterable[str]) -> list[str]:
    """The names in these texts, as far as patterns can tell: introductions, nicknames, capitalised words.

    A Latin name is found among Chinese characters too.
    """
    given = [*texts]
    found = [*map(introduced_name, given), *name_words.names_in(given, is_common)]
    return [name for name in dict.fromkeys(found) if name]


def replace_names(text: str, names: Sequence[str], lang: Lang) -> str:
    """The text with each of these names replaced by "someone"."""
    known = sorted(filter(None, names), key=len, reverse=True)
    return re.sub("|".join(map(_pattern, known)), ROLE[lang], text) if known else text


def _pattern(name: str) -> str:
    """In any case, unless it is a common word too: "will" is not Will."""
    pattern = name_words.called(name).pattern
    return pattern if is_common(name.lower()) else f"(?i:{pattern})"


def replace_names_in(value: Any, names: Sequence[str], lang: Lang) -> Any:
    """A JSON value with the names replaced in every string; keys stay."""
    if isinstance(value, str):
        return replace_names(value, names, lang)
    if isinstance(value, list):
        return [replace_names_in(item, names, lang) for item in value]
    if isinstance(value, dict):
        return {key: replace_names_in(item, names, lang) for key, item in value.items()}
    return value
