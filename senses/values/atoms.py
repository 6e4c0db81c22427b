"""The smallest pieces of time expressions, such as "friday", "may" or "evening", and how they are placed in time.

A piece may stand within a larger one (the evening of a day, May of a year); alone it is placed by the tense.
"""

from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

from soulgraph.senses.values.periods import Moment, Period, day_of, month_of, week_of, year_of

Place = Callable[[Period | None, Moment], Period | None]


class Level(IntEnum):
    """What can stand within what: the finer within the coarser."""

    CLOCK = 1
    PART = 2
    DAY = 3
    EDGE = 4
    WEEK = 5
    MONTH = 6
    YEAR = 7


class Company(IntEnum):
    """What an atom needs to be a time at all: nothing, a verb of another time, no verb of the past, or another atom."""

    NONE = 0
    TENSE = 1
    NO_PAST = 2
    ATOM = 3


class Atom(NamedTuple):
    """A piece of a time expression; one that is `fixed` stands within no other."""

    level: Level
    place: Place
    fixed: bool = False
    needs: Company = Company.NONE
    cycle: str = ""  # how it recurs with "every"
    recurs: str = ""  # it says itself that it recurs; EVERY_SUCH leaves it to its neighbours how


EVERY_SUCH = "every such"
PERIOD_OF = {"day": day_of, "week": week_of, "month": month_of, "year": year_of}
LEVELS = {"day": Level.DAY, "week": Level.WEEK, "month": Level.MONTH, "year": Level.YEAR}


def fixed(level: Level, place: Callable[[Moment], Period | None]) -> Atom:
    return Atom(level, lambda _, moment: place(moment), fixed=True)


def every(unit: str) -> Atom:
    """Every day, week, month or year; alone the present one."""
    recurs = "daily" if unit == "day" else f"{unit}ly"
    return Atom(LEVELS[unit], lambda _, moment: PERIOD_OF[unit](moment.now), recurs=recurs)


def every_such() -> Atom:
    """The word "every" before what recurs."""
    return Atom(Level.YEAR, lambda outer, _: outer, needs=Company.ATOM, recurs=EVERY_SUCH)


def workdays() -> Atom:
    def place(_: Period | None, moment: Moment) -> Period | None:
        days = (day_of(moment.now, n) for n in range(3))
        return next(day for day in days if day.begins.weekday() < 5)

    return Atom(Level.DAY, place, recurs="weekdays")
