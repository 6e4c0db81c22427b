"""Tells Chinese texts from English ones, and in which of the two a soul answers."""

import re
from collections.abc import Mapping
from typing import Literal

from soulgraph.soul.patterns import lazy_pattern

Lang = Literal["zh", "en"]

_CJK = lazy_pattern(r"[\u3400-\u9fff\uf900-\ufaff]")
_OF_THE_TEXT: dict[Lang, str] = {"en": "the language of the user's words", "zh": "用户所用的语言"}
_OTHER_SCRIPT = lazy_pattern(r"[\u00c0-\u024f\u0370-\u1fff\u3040-\u30ff\uac00-\ud7af]")
_NAMES: dict[Lang, re.Pattern[str]] = {
    "zh": lazy_pattern(r"zh\b|中文|汉语|普通话|国语|\b(?:chinese|mandarin)\b", re.IGNORECASE),
    "en": lazy_pattern(r"en\b|英[文语]|\benglish\b", re.IGNORECASE),
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


def third_language(text: str, wished: str) -> str:
    """The language to answer in if it is neither of the two: the one that is wished for, or that of the text.

    Empty if it is one of the two; of another script only "that of the text" can be said.
    """
    if wished:
        return "" if any(names.match(wished) for names in _NAMES.values()) else wished
    return _OF_THE_TEXT[lang_of(text)] if _OTHER_SCRIPT.search(text) else ""
