"""The days that facts speak of: since when something is so, and when somebody's birthday is."""

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from soulgraph.senses.values.mentions import find_times
from soulgraph.soul.language import Lang

if TYPE_CHECKING:
    from soulgraph.senses.facts.reader import Told

_RELATIVE = {
    "today": 0, "yesterday": -1, "tomorrow": 1, "今天": 0, "昨天": -1, "明天": 1, "前天": -2, "后天": 2,
}  # fmt: skip
_DAY_WORD = re.compile("|".join(_RELATIVE), re.IGNORECASE)


def began_at(sentence: str, at: datetime) -> float | None:
    """Since when something is so, in seconds of the speaker's clock; None if it is not said."""
    past = [one for one in find_times(sentence, at, "past") if not one.recurs and one.begins <= at.replace(tzinfo=None)]
    if not past or past[0].grain in ("minute", "hour", "part"):
        return None
    return past[0].begins.replace(tzinfo=at.tzinfo).timestamp()


def day_of(sentence: str, told: "Told", lang: Lang) -> str:
    """The day that is meant, like "9 October": named in the message, or in the one before."""
    for text in (sentence, *reversed(told.earlier[-2:])):
        if found := _DAY_WORD.search(text):
            day = told.at + timedelta(days=_RELATIVE[found[0].lower()])
            return f"{day.month}月{day.day}日" if lang == "zh" else f"{day.day} {day:%B}"
    return ""
