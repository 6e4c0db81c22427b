"""When a plan is due: wall times of a place as moments, when a reminder is said, how it recurs, and when to ask.

A time is kept as it was said, by the wall clock of a zone: if clocks are put forward, seven is still seven.
"""

from calendar import monthrange
from datetime import datetime, time, timedelta, tzinfo
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from soulgraph.soul.quiet_hours import QuietHours

PlanKind = Literal["reminder", "plan", "promise"]
PlanStatus = Literal["open", "unsure", "delivering", "delivered", "done", "cancelled", "missed"]
Recurs = Literal["", "daily", "weekdays", "weekly", "monthly", "yearly"]
PlanGrain = Literal["minute", "hour", "part", "day", "week", "month", "season", "year", "vague"]

MORNING = time(9)
"""When a reminder for a whole day is said."""
GRACE_S = 7 * 86400.0
"""A reminder that could not be said within this time is missed."""
EXACT: frozenset[str] = frozenset({"minute", "hour"})
"""Grains of a clock time."""

_EVENING, _LAST_CALL = time(18), time(17)
_SOON = timedelta(hours=1)
_PROMPT_S = 900.0
_FOLLOW_UP_AFTER = timedelta(hours=3)
_MONTHS: dict[str, int] = {"monthly": 1, "yearly": 12}


def zone_of(name: str, default: tzinfo | None = None) -> tzinfo | None:
    """The zone of this IANA name; the default, None for this machine's, if it is empty or unknown."""
    try:
        return ZoneInfo(name) if name else default
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return default


def is_zone(name: str) -> bool:
    return bool(name) and zone_of(name) is not None


def moment(local: datetime, zone: tzinfo | None) -> float:
    """A wall time as epoch seconds: of a time that clocks show twice the first, of one that they skip the next."""
    return local.replace(tzinfo=zone).timestamp()


def local_time(at: float, zone: tzinfo | None) -> datetime:
    """The wall time of a moment, without its zone."""
    return datetime.fromtimestamp(at, zone).replace(tzinfo=None)


def saying_time(begins: datetime, ends: datetime, grain: str, now: datetime) -> datetime:
    """When a reminder for this range is said, by the same clock: a clock time then, a whole day in its morning.

    One that has begun already is said soon, before it ends.
    """
    if grain in EXACT:
        return begins
    if grain == "part":
        return begins if begins > now else max(now, min(now + _SOON, ends - _SOON / 2))
    morning = datetime.combine(begins.date(), MORNING)
    if morning > now:
        return morning
    evening = datetime.combine(now.date(), _EVENING)
    return evening if now.time() < _LAST_CALL and evening < ends else now + _SOON


def may_say(due: float, grain: str, now: float, zone: tzinfo | None, quiet: QuietHours) -> bool:
    """Whether it may be said now: in quiet hours only what was wanted at this very time."""
    if datetime.fromtimestamp(now, zone) not in quiet:
        return True
    return grain in EXACT and now - due <= _PROMPT_S


def after_quiet_hours(now: float, zone: tzinfo | None, quiet: QuietHours) -> float:
    """The end of the quiet hours that it is in."""
    local = local_time(now, zone)
    end = datetime.combine(local.date(), quiet.end)
    return moment(end if end > local else end + timedelta(days=1), zone)


def next_time(local: datetime, recurs: str, after: datetime) -> datetime:
    """The first time after both `local` and `after` at which something recurs; those that were missed are skipped."""
    bound = max(local, after)
    if months := _MONTHS.get(recurs):
        return _next_by_months(local, months, bound)
    step = timedelta(weeks=1) if recurs == "weekly" else timedelta(days=1)
    following = local + step * max(1, (bound - local) // step + 1)
    while recurs == "weekdays" and following.weekday() >= 5:
        following += step
    return following


def _next_by_months(local: datetime, step: int, bound: datetime) -> datetime:
    """On the same day of a later month, or on its last one if that is shorter."""
    count = step
    while (following := _months_later(local, count)) <= bound:
        count += step
    return following


def _months_later(local: datetime, count: int) -> datetime:
    year, month = divmod(local.year * 12 + local.month - 1 + count, 12)
    return local.replace(year=year, month=month + 1, day=min(local.day, monthrange(year, month + 1)[1]))


def follow_up_time(ends: datetime) -> datetime:
    """When somebody may be asked how it went: some hours after it was over."""
    return ends + _FOLLOW_UP_AFTER
