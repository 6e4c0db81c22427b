"""When, as people say it: 明早七点, 半小时后, next friday at noon.

All is said by the user's clock, and so is the answer: local wall time. Without a day the next such time is meant;
七点 may be either of two hours, so at 15:30 it is 19:00. A day without a time of the day means nine o'clock.
"""

import re
from datetime import UTC, date, datetime, time, timedelta

from soulgraph.senses.values.clocks import clocks
from soulgraph.senses.values.days import days
from soulgraph.senses.values.durations import DAY, Stretch, stretches
from soulgraph.senses.values.numbers import in_digits

NINE = timedelta(hours=9)

_LATER = re.compile(r"\s*(?:(?:以|之|过)?后|(?:later|from now)\b)", re.IGNORECASE)
_IN = re.compile(r"(?:过|\bin)\s*$", re.IGNORECASE)
_NOT_AHEAD = re.compile(r"\s*(?:(?:以|之)?[前内]|ago\b)", re.IGNORECASE)


def moment(text: str, now: datetime) -> str | None:
    """As YYYY-MM-DDTHH:MM:SS; none when no time is named, or only one of today that has passed."""
    try:
        when = _moment(in_digits(text), now)
    except OverflowError:  # beyond the year 9999
        return None
    return when.replace(tzinfo=None).isoformat(timespec="seconds") if when else None


def _moment(text: str, now: datetime) -> datetime | None:
    """A length of time ahead (半小时后) counts from now; of whole days, it may also say the day: 三天后早上八点."""
    named = [stretch for stretch in stretches(text) if not _NOT_AHEAD.match(stretch.after)]
    ahead = next((stretch.seconds for stretch in named if _is_ahead(stretch)), None)
    today = now.date()
    if ahead is not None and ahead % DAY == 0 and clocks(text, dated=True):
        return _next([today + timedelta(seconds=ahead)], clocks(text, dated=True), now)
    if ahead is None:
        said_days = days(text, today)
        said_clocks = clocks(text, dated=bool(said_days))
        if said_days or said_clocks:
            return _next(said_days or _around(today), said_clocks or [NINE], now)
        ahead = next((stretch.seconds for stretch in named), None)
    return None if ahead is None else _after(now, ahead)


def _is_ahead(stretch: Stretch) -> bool:
    return bool(_LATER.match(stretch.after) or _IN.search(stretch.before))


def _after(now: datetime, seconds: float) -> datetime:
    """An hour is an hour, even when the clocks change."""
    if now.tzinfo is None:
        return now + timedelta(seconds=seconds)
    return (now.astimezone(UTC) + timedelta(seconds=seconds)).astimezone(now.tzinfo)


def _around(today: date) -> list[date]:
    """Yesterday too: its 晚上一点 may be yet to come."""
    return [today + timedelta(days=n) for n in (-1, 0, 1)]


def _next(said_days: list[date], said_clocks: list[timedelta], now: datetime) -> datetime | None:
    wall = now.replace(tzinfo=None)
    moments = sorted(datetime.combine(day, time()) + clock for day in said_days for clock in said_clocks)
    coming = next((moment for moment in moments if moment > wall), None)
    return coming or (moments[0] if said_days[-1] != now.date() else None)
