"""What a question says and asks about time."""

import re
from dataclasses import replace
from datetime import datetime

from soulgraph.senses.values.mentions import TimeMention, find_times
from soulgraph.senses.values.periods import DAY, midnight

_ASKS_WHEN = re.compile(
    r"\bwhen(?:'s|'d)? (?:did|do|does|was|were|is|are|am|will|would|have|has|had|can|could"
    r"|should|shall|the|my|your|our)\b"
    r"|^\W*(?:and |so |but )?when\W*$|\bsince when\b"
    r"|\b(?:what|which) (?:date|day|month|year|week|weekday|time|season)\b"
    r"|\bhow long (?:ago|since|has|have|is it since)\b"
    r"|\bhow (?:many|much) (?:days?|weeks?|months?|years?|time|long)\b.*\b(?:ago|since|until|till|passed|left)\b"
    r"|\b(?:remember|know|tell me|recall|idea|forgot(?:ten)?|sure) when\b"
    r"|什么时候|什么时间|啥时候?|何时|几时|哪[一]?[天日年月]|哪个?(?:月|星期|礼拜|周|时候)"
    r"|几[号点月]|[星礼]?[期拜周]几|多久(?:以|之)?[前后]|多久没"
    r"|从什么|多长时间|哪一?年|多少[天年](?:前|后|没)|几[天年周](?:前|后|没)|几个[月星礼](?:期|拜)?[前后没]|有多久",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:before|prior to|until|till|up to)(?: the)?\s*$", re.IGNORECASE)
_AFTER = re.compile(r"\bafter(?: the)?\s*$", re.IGNORECASE)
_BEFORE_ZH = re.compile(r"\s*(?:之前|以前)")
_AFTER_ZH = re.compile(r"\s*(?:之后|以后)")


def asks_when(question: str) -> bool:
    """Whether it asks for a time: when, what day, how long ago, 什么时候, 哪天, 几号."""
    return bool(_ASKS_WHEN.search(question))


def asked_times(question: str, now: datetime) -> list[TimeMention]:
    """The times a question is about: "before March" is all time until then, "after March" from then to today."""
    return [_bounded(question, mention, now) for mention in find_times(question, now)]


def _bounded(question: str, mention: TimeMention, now: datetime) -> TimeMention:
    before = question[max(0, mention.start - 20) : mention.start]
    if _BEFORE.search(before) or _BEFORE_ZH.match(question, mention.end):
        return replace(mention, begins=datetime.min, ends=mention.begins, grain="vague")
    today = midnight(now) + DAY
    if (_AFTER.search(before) or _AFTER_ZH.match(question, mention.end)) and mention.ends < today:
        return replace(mention, begins=mention.ends, ends=today, grain="vague")
    return mention
