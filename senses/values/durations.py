"""Parses durations: 一个半小时, half an hour, 1h30m."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from soulgraph.senses.values.numbers import Number, in_digits, int_if_whole

DAY = 86_400
MAX_S = 366 * DAY

_SECONDS = {"second": 1, "minute": 60, "quarter": 900, "hour": 3600, "day": DAY, "week": 7 * DAY}
_UNIT = (
    r"(?:(?P<second>秒钟?|(?:s|secs?|seconds?)\b)|(?P<minute>分钟?|(?:m|mins?|minutes?)(?![a-z]))"
    r"|(?P<quarter>刻钟?|quarters?(?: of an hour)?\b)|(?P<hour>小时|钟头|(?:h|hrs?|hours?)(?![a-z]))"
    r"|(?P<day>天(?![气空])|days?\b)|(?P<week>周(?!\d)|星期(?!\d)|礼拜(?!\d)|weeks?\b))"
)
_ANY_UNIT = re.sub(r"\?P<\w+>", "?:", _UNIT)
# not the minutes of 10点20分, nor the day of the week in 周1天黑
_TERM = re.compile(rf"(?<![\d.点周期拜第])(?<!点过)(?P<n>\d{{1,9}}(?:\.\d{{1,6}})?)\s*个?\s*{_UNIT}", re.IGNORECASE)
_ANY_TERM = re.sub(r"\?P<\w+>", "?:", _TERM.pattern)
_DURATION = re.compile(rf"{_ANY_TERM}(?:(?:\s|,|又|\band\b)*{_ANY_TERM})*", re.IGNORECASE)

_REWRITES = [
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (rf"(?<=\d)点(?=\d+个?{_ANY_UNIT})(?!\d+分(?!钟))", "."),  # 1点5小时, but not 3点20分
        (r"\ba couple of\b", "2"),
        (rf"(\d)(?:个半| and a half )(?={_ANY_UNIT})", r"\1.5"),
        (rf"(?:半个?|\bhalf (?:an? )?)(?={_ANY_UNIT})", "0.5"),
        (rf"\ban? (?={_ANY_UNIT})", "1 "),
        (rf"(\d)\s*个?({_ANY_UNIT})(?:半| and a half\b)", r"\1.5\2"),
        (rf"(?<=\d)(h|小时)(\d{{1,2}})(?![\d.个]|\s*{_ANY_UNIT})", r"\1\2分"),  # 2h30
    )
]


class Duration(NamedTuple):
    """A duration in a text, with the text before and after it."""

    seconds: float
    before: str
    after: str


def duration(text: str) -> Number | None:
    """The first duration of a text in seconds; None without one."""
    return next((int_if_whole(found.seconds) for found in durations_in(in_digits(text))), None)


def durations_in(text: str) -> Iterator[Duration]:
    """The durations in a text with numbers in digits, up to a year each."""
    for pattern, replacement in _REWRITES:
        text = pattern.sub(replacement, text)
    for match in _DURATION.finditer(text):
        seconds = sum(_seconds(term) for term in _TERM.finditer(match[0]))
        if seconds <= MAX_S:
            yield Duration(seconds, text[: match.start()], text[match.end() :])


def _seconds(term: re.Match[str]) -> float:
    return float(term["n"]) * next(size for unit, size in _SECONDS.items() if term[unit])
