"""Names that are told as an answer: "Ida and Felix" after the twins were spoken of."""

import re
from collections.abc import Iterator
from functools import cache

from soulgraph.senses.common_words import is_common
from soulgraph.senses.facts.grammar import part, words
from soulgraph.soul.language import Lang

_NAMES_EN = re.compile(
    r"^(?:(?:that'?s|it'?s|she'?s|he'?s|they'?re|called|named) )*"
    r"(?P<names>(?-i:[A-Z][a-zé]{1,11})(?:(?:, and|,| and| &) (?-i:[A-Z][a-zé]{1,11}))*)"
    r"(?=\.|$|, (?:he|she|they|it|\d+|an?|the|my|and)\b)",
    re.IGNORECASE,
)
_NAMES_ZH = re.compile(r"^(?:哦|嗯|哈+|它|她|他|叫|，|,)*(?P<names>[\u4e00-\u9fff]{2,3})(?=[，,。!！]|$)")
_PLURAL = r"|twins|kids|boys|girls|sons|daughters|dogs|cats|children|sisters|brothers|grandkids"


def names_answered(text: str, before: str, lang: Lang) -> Iterator[tuple[str, str]]:
    """The names that a message begins with, for somebody of whom the one before spoke; each with the relation."""
    given = (_NAMES_EN if lang == "en" else _NAMES_ZH).match(text)
    mentions = [*_mention(lang).finditer(before)]
    if not given or not mentions:
        return
    names = re.split(r",? and |, | & ", given["names"])
    if mentions[-1]["rel"].lower().endswith("s") != (len(names) > 1):
        return
    for name in names:
        if not is_common(name.lower()) and not words("no_name").search(name):
            yield mentions[-1]["rel"].lower(), name


@cache
def _mention(lang: Lang) -> re.Pattern[str]:
    """Somebody without a name, of the person's."""
    relation = part(lang, "relation").pattern
    if lang == "zh":
        return re.compile(
            rf"我们?家?(?:的|那[只个条位]|这[只个条位])?(?P<rel>{relation})(?=[今昨又也老总把在不很最,，。]|$)"
        )
    return re.compile(rf"\b(?:(?:my|our) |(?=\w+s\b))(?P<rel>{relation}{_PLURAL})\b(?! (?-i:[A-Z]))", re.IGNORECASE)
