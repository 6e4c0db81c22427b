"""Periods of the calendar as half-open ranges of local wall time: days, weeks from Monday on, months, years."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

Grain = Literal["minute", "hour", "part", "day", "week", "month", "season", "year", "vague"]
Tense = Literal["past", "future", "any"]

DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
"""The months they begin with; winter belongs to the year in which it begins."""


class Period(NamedTuple):
    """A range of time. `part` is the word for its part of the day; `loose` says that its day was not named."""

    begins: datetime
    ends: datetime
    grain: Grain
    part: str = ""
    loose: bool = False


class Moment(NamedTuple):
    """When something is said, and whether it is about what was or what will be; `recurs` if about every such time.

    `hint` is the part of the day that the words around it speak for: dinner is in the evening.
    """

    now: datetime
    tense: Tense = "any"
    recurs: bool = False
    hint: str = ""

    @property
    def today(self) -> datetime:
        return midnight(self.now)


def midnight(when: datetime) -> datetime:
    return when.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None, fold=0)


def day_of(when: datetime, offset: int = 0, length: int = 1, grain: Grain = "day") -> Period:
    """`length` days, the first of which is `offset` days after that of `when`."""
    begins = midnight(when) + offset * DAY
    return Period(begins, begins + length * DAY, grain)


def week_of(when: datetime, offset: int = 0) -> Period:
    return day_of(when, 7 * offset - when.weekday(), 7, "week")


def weekend_of(when: datetime, offset: int = 0) -> Period:
    return day_of(when, 7 * offset - when.weekday() + 5, 2)


def month_of(when: datetime, offset: int = 0, length: int = 1, grain: Grain = "month") -> Period:
    begins = add_months(midnight(when).replace(day=1), offset)
    return Period(begins, add_months(begins, length), grain)


def year_of(when: datetime, offset: int = 0) -> Period:
    return months(when.year + offset, 1, 12, "year")


def months(year: int, first: int, length: int, grain: Grain) -> Period:
    """`length` months from the `first` of a year on."""
    begins = datetime(year, first, 1)
    return Period(begins, add_months(begins, length), grain)


def season_of(year: int, name: str) -> Period:
    return months(year, SEASONS[name], 3, "season")


def add_months(when: datetime, offset: int) -> datetime:
    """The same day of another month, or its last."""
    count = when.year * 12 + when.month - 1 + offset
    first = when.replace(year=count // 12, month=count % 12 + 1, day=1)
    return first + (min(when.day, _days_in_month(first)) - 1) * DAY


def _days_in_month(first: datetime) -> int:
    return (first.replace(day=28) + 4 * DAY).replace(day=1).toordinal() - first.toordinal()


def nearest(periods: Iterable[Period], moment: Moment) -> Period | None:
    """Of periods in order: the last that has begun if the past is meant, else the first that has not ended."""
    if moment.tense == "past":
        return max((period for period in periods if period.begins <= moment.now), default=None)
    return next((period for period in periods if period.ends > moment.now), None)
