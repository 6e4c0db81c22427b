"""Parses points in time: 明早七点, 半小时后, next friday at noon.

Input and result are local wall time of the user. Without a day the next such time is meant; 七点 may be either of
two hours, so at 15:30 it is 19:00. A day without a time of the day means nine o'clock.
"""

import re
from datetime import UTC, date, datetime, time, timedelta

from soulgraph.senses.values.clocks import clocks
from soulgraph.senses.values.days import days
from soulgraph.senses.values.durations import DAY, Duration, durations_in
from soulgraph.senses.values.numbers import in_digits

DEFAULT_CLOCK = timedelta(hours=9)

_FUTURE_SUFFIX = re.compile(r"\s*(?:(?:以|之|过)?后|(?:later|from now)\b)", re.IGNORECASE)
_FUTURE_PREFIX = re.compile(r"(?:过|\bin)\s*$", re.IGNORECASE)
_NOT_FUTURE_SUFFIX = re.compile(r"\s*(?:(?:以|之)?[前内]|ago\b)", re.IGNORECASE)


def parse_time(text: str, now: datetime) -> str | None:
    """The time as YYYY-MM-DDTHH:MM:SS; None when none is named, or only one of today that has passed."""
    try:
        when = _parse_time(in_digits(text), now)
    except OverflowError:  # beyond the year 9999
        return None
    return when.replace(tzinfo=None).isoformat(timespec="seconds") if when else None


def _parse_time(text: str, now: datetime) -> datetime | None:
    """A duration in the future (半小时后) counts from now; one of whole days may give the date: 三天后早上八点."""
    named = [found for found in durations_in(text) if not _NOT_FUTURE_SUFFIX.match(found.after)]
    ahead = next((found.seconds for found in named if _is_ahead(found)), None)
    today = now.date()
    if ahead is not None and ahead % DAY == 0 and clocks(text, dated=True):
        return _next_time([today + timedelta(seconds=ahead)], clocks(text, dated=True), now)
    if ahead is None:
        dates = days(text, today)
        times = clocks(text, dated=bool(dates))
        if dates or times:
            return _next_time(dates or _days_around(today), times or [DEFAULT_CLOCK], now)
        ahead = next((found.seconds for found in named), None)
    return None if ahead is None else _after(now, ahead)


def _is_ahead(found: Duration) -> bool:
    return bool(_FUTURE_SUFFIX.match(found.after) or _FUTURE_PREFIX.search(found.before))


def _after(now: datetime, seconds: float) -> datetime:
    """`now` plus elapsed seconds, also when the clocks change in between."""
    if now.tzinfo is None:
        return now + timedelta(seconds=seconds)
    return (now.astimezone(UTC) + timedelta(seconds=seconds)).astimezone(now.tzinfo)


def _days_around(today: date) -> list[date]:
    """Yesterday, today and tomorrow: yesterday's 晚上一点 may still be in the future."""
    return [today + timedelta(days=n) for n in (-1, 0, 1)]


def _next_time(dates: list[date], times: list[timedelta], now: datetime) -> datetime | None:
    """The first of these times after `now`; the first of all if none is, unless the last date is today."""
    wall = now.replace(tzinfo=None)
    candidates = sorted(datetime.combine(day, time()) + clock for day in dates for clock in times)
    coming = next((candidate for candidate in candidates if candidate > wall), None)
    return coming or (candidates[0] if dates[-1] != now.date() else None)
