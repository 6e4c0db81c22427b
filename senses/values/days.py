"""Parses days: 大后天, 下周一, 12月3号, next friday."""

from collections.abc import Iterable
from datetime import date, timedelta

import regex

_NEAR = [
    (regex.compile(words, regex.IGNORECASE), timedelta(days=offset))
    for words, offset in (
        (r"大后[天儿]", 3),
        (r"后[天儿]|\bday after tomorrow\b", 2),
        (r"明[天日早晚儿]|\btomorrow\b", 1),
        (r"今[天日早晚儿]|\b(?:today|tonight|this (?:morning|afternoon|evening))\b", 0),
        (r"前天", -2),
        (r"昨[天日晚]|\b(?:yesterday|last night)\b", -1),
    )
]
_WEEKDAYS = {char: day for day, chars in enumerate(["1", "2", "3", "4", "5", "6末", "日天"]) for char in chars} | {
    name: day for day, name in enumerate(["mon", "tues", "wednes", "thurs", "fri", "satur", "sun"])
}
_WEEKDAY = regex.compile(
    r"(?P<week>(?<![早晚])上{1,2}|下{1,2}|[这本])?个?(?<!\d)(?:周|星期|礼拜)(?P<day>[1-6日天末])"
    r"|\b(?:(?P<week>last|this|next) )?(?P<day>mon|tues|wednes|thurs|fri|satur|sun)day\b",
    regex.IGNORECASE,
)
_WEEKS = {"last": -1, "上": -1, "上上": -2, "this": 0, "这": 0, "本": 0, "next": 1, "下": 1, "下下": 2}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_CALENDAR = regex.compile(
    r"(?:(?P<y>\d{4})年)?(?P<m>\d{1,2})月(?P<d>\d{1,2})(?!\d)"
    r"|(?P<y>\d{4})-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?!\d)"
    r"|(?P<next_month>下个?月)(?P<d>\d{1,2})[号日]"
    r"|(?<!\d)(?P<d>\d{1,2})[号日](?=\s*(?:[早上中下晚凌傍半\d,，]|$))"
    r"|\bthe (?P<d>\d{1,2})(?:st|nd|rd|th)\b(?! of)"
    rf"|\b{_MONTH} (?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b|\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?![a-z])",
    regex.IGNORECASE,
)


def days(text: str, today: date) -> list[date]:
    """The days a text with numbers in digits may mean, the earliest first (周五 of this week or the next); or none."""
    for words, offset in _NEAR:
        if words.search(text):
            return [today + offset]
    if found := _WEEKDAY.search(text):
        return _weekdays(found, today)
    found = _CALENDAR.search(text)
    return _calendar_days(found, today) if found else []


def _weekdays(found: regex.Match[str], today: date) -> list[date]:
    this_week = today + timedelta(days=_WEEKDAYS[found["day"].lower()] - today.weekday())
    weeks = [_WEEKS[found["week"].lower()]] if found["week"] else [0, 1]
    return [this_week + timedelta(weeks=n) for n in weeks]


def _calendar_days(found: regex.Match[str], today: date) -> list[date]:
    """The day itself with a year; without one that of the next years, without a month that of the next months."""
    day = int(found["d"])
    if found["y"]:
        return _existing([(int(found["y"]), int(found["m"]), day)])
    month = _MONTHS.index(found["month"].lower()) + 1 if found["month"] else int(found["m"] or 0)
    if month:
        return _existing((today.year + n, month, day) for n in range(9))  # 29 February may be eight years away
    this_month = today.year * 12 + today.month - 1
    months = range(this_month + 1, this_month + 2) if found["next_month"] else range(this_month, this_month + 3)
    return _existing((n // 12, n % 12 + 1, day) for n in months)


def _existing(dates: Iterable[tuple[int, int, int]]) -> list[date]:
    return [day for ymd in dates if (day := _date(*ymd))]


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
