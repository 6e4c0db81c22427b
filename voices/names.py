"""Finds proper names in texts, and replaces them in what all souls may read."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from soulgraph.soul.language import Lang
from soulgraph.voices.offline_parsing import introduced_name

ROLE = {"zh": "某人", "en": "someone"}

_WHOLE_WORD = "(?<![A-Za-z0-9_]){}(?![A-Za-z0-9_])"
_PROPER_NOUN = re.compile(r"(?:(?<=[a-z,;] )|(?<=[\u4e00-\u9fff]))[A-Z][a-z]+")
_CALLED = re.compile(
    r"叫(?:做)?(?!你|我|他|她|它|什么|醒|做)([\u4e00-\u9fff·]{1,4})(?=[\s，。！？,.!?]|$)"
    r"|\b(?:called|named)\s+([A-Z]\w+)"
)
_CALENDAR = re.compile(
    "(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September|October"
    "|November|December|Christmas|Easter"
)


def names_in(texts: Iterable[str]) -> list[str]:
    """The names in these texts, as far as patterns can tell: introductions, "called X", capitalised words."""
    found: list[str | None] = []
    for text in texts:
        found.append(introduced_name(text))
        found += [zh or en for zh, en in _CALLED.findall(text)]
        found += [noun for noun in _PROPER_NOUN.findall(text) if not _CALENDAR.fullmatch(noun)]
    return [name for name in dict.fromkeys(found) if name]


def replace_names(text: str, names: Sequence[str], lang: Lang) -> str:
    """The text with each of these names replaced by "someone"."""
    known = sorted(filter(None, names), key=len, reverse=True)
    if not known:
        return text
    # A Latin name must be a whole word: "Al" is not in "Also". `\b` would miss one that stands among Chinese letters.
    patterns = (_WHOLE_WORD.format(re.escape(name)) if name.isascii() else re.escape(name) for name in known)
    return re.sub("|".join(patterns), ROLE[lang], text)


def replace_names_in(value: Any, names: Sequence[str], lang: Lang) -> Any:
    """A JSON value with the names replaced in every string; keys stay."""
    if isinstance(value, str):
        return replace_names(value, names, lang)
    if isinstance(value, list):
        return [replace_names_in(item, names, lang) for item in value]
    if isinstance(value, dict):
        return {key: replace_names_in(item, names, lang) for key, item in value.items()}
    return value
