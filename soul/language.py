"""Tells Chinese texts from English ones, and in which of the two a soul answers."""

import re
from collections.abc import Mapping
from typing import Literal

Lang = Literal["zh", "en"]

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_NAMES: dict[Lang, re.Pattern[str]] = {
    "zh": re.compile(r"zh\b|中文|汉语|普通话|国语|\b(?:chinese|mandarin)\b", re.IGNORECASE),
    "en": re.compile(r"en\b|英[文语]|\benglish\b", re.IGNORECASE),
}


def lang_of(text: str) -> Lang:
    """Chinese as soon as the text has one Chinese character."""
    return "zh" if _CJK.search(text) else "en"


def reply_language(text: str, preferences: Mapping[str, str], wishes: Mapping[str, str]) -> Lang:
    """The language of the answer: as wished for in the session, else as preferred for good, else that of the text.

    A wish for a third language leaves the prepared lines as they are; only a model can fulfil it.
    """
    wished = wishes.get("language") or preferences.get("language") or ""
    return next((lang for lang, names in _NAMES.items() if names.match(wished)), None) or lang_of(text)
