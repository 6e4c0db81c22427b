"""Atoms that count from today: "three weeks ago", "in two months", "the last ten days"."""

from soulgraph.senses.values.atoms import LEVELS, PERIOD_OF, Atom, Company, Level, fixed
from soulgraph.senses.values.periods import DAY, Grain, Moment, Period, add_months, day_of

_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "year": 12}


def units_ago(unit: str, count: float) -> Atom:
    """The day, week, month or year so long ago; of half a unit the next smaller one."""
    unit, whole = _whole(unit, count)
    return fixed(LEVELS[unit], lambda moment: PERIOD_OF[unit](moment.now, -whole))


def units_ahead(unit: str, count: float) -> Atom:
    """The day so many days, weeks, months or years ahead; how exact it is depends on the unit."""
    unit, whole = _whole(unit, count)
    grain: Grain = "day" if unit in _DAYS else "month" if unit == "month" else "year"
    return fixed(Level.DAY, lambda moment: _shifted(moment, unit, whole)._replace(grain=grain))


def units_taken(unit: str, count: float) -> Atom:
    """The same, said so that with a verb of the past it is how long something took: "in two weeks"."""
    return units_ahead(unit, count)._replace(needs=Company.NO_PAST)


def day_ago(unit: str, count: float) -> Atom:
    """The very day: "two years ago today"."""
    unit, whole = _whole(unit, count)
    return fixed(Level.DAY, lambda moment: _shifted(moment, unit, -whole))


def few_ago(unit: str) -> Atom:
    """A few days, weeks, months or years ago: two to five."""
    of = PERIOD_OF[unit]
    return fixed(Level.YEAR, lambda moment: Period(of(moment.now, -5).begins, of(moment.now, -2).ends, "vague"))


def units_around(unit: str, count: int) -> Atom:
    """The last (negative) or next so many days, weeks, months or years, today with them."""
    grain: Grain = "week" if unit in _DAYS else "month"

    def place(moment: Moment) -> Period:
        far = _shifted(moment, unit, count).begins
        return Period(min(far, moment.today), max(far, moment.today) + DAY, grain)

    return fixed(Level.WEEK, place)


def _whole(unit: str, count: float) -> tuple[str, int]:
    """Half a year as six months, half a month as fifteen days."""
    if count % 1 == 0:
        return unit, int(count)
    smaller, size = {"year": ("month", 12), "month": ("day", 30), "week": ("day", 7), "day": ("day", 1)}[unit]
    return smaller, round(count * size)


def _shifted(moment: Moment, unit: str, count: int) -> Period:
    if unit in _DAYS:
        return day_of(moment.now, count * _DAYS[unit])
    return day_of(add_months(moment.today, count * _MONTHS[unit]))
