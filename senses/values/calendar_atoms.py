"""Atoms of the calendar: days, weekdays, weekends, months, seasons, dates, years, and their beginnings and ends."""

from collections.abc import Callable
from datetime import datetime

from soulgraph.senses.values.atoms import Atom, Company, Level, fixed
from soulgraph.senses.values.periods import (
    DAY,
    Grain,
    Moment,
    Period,
    day_of,
    midnight,
    month_of,
    months,
    nearest,
    season_of,
    week_of,
    weekend_of,
    year_of,
)

_EDGES = {"early": (0, 10), "begin": (0, 5), "mid": (10, 20), "late": (20, 31), "end": (-5, 31)} | {
    "first week": (0, 7),
    "last week": (-7, 31),
}


def near_day(offset: int) -> Atom:
    return fixed(Level.DAY, lambda moment: day_of(moment.now, offset))


def near_week(offset: int) -> Atom:
    return fixed(Level.WEEK, lambda moment: week_of(moment.now, offset))


def near_weekend(offset: int | None) -> Atom:
    """The weekend of the week `offset` weeks away; with None by the tense."""
    if offset is not None:
        return fixed(Level.WEEK, lambda moment: weekend_of(moment.now, offset))
    around = (-1, 0, 1)
    return Atom(
        Level.WEEK,
        lambda outer, moment: (
            weekend_of(outer.begins) if outer else nearest((weekend_of(moment.now, n) for n in around), moment)
        ),
        cycle="weekly",
    )


def near_month(offset: int) -> Atom:
    return fixed(Level.MONTH, lambda moment: month_of(moment.now, offset))


def near_year(offset: int) -> Atom:
    return fixed(Level.YEAR, lambda moment: year_of(moment.now, offset))


def year(number: int, length: int = 1) -> Atom:
    grain: Grain = "year" if length == 1 else "vague"
    return fixed(Level.YEAR, lambda _: months(number, 1, 12 * length, grain))


def weekday(number: int) -> Atom:
    """Of the week it stands within; alone the last one or the coming one, which is not today."""

    def place(outer: Period | None, moment: Moment) -> Period:
        if outer:
            return day_of(week_of(outer.begins).begins, number)
        ahead = (number - moment.now.weekday()) % 7
        if moment.tense == "past":
            return day_of(moment.now, ahead - 7)
        return day_of(moment.now, ahead if moment.recurs else ahead or 7)

    return Atom(Level.DAY, place, cycle="weekly")


def weekday_of_week(number: int, offset: int) -> Atom:
    return fixed(Level.DAY, lambda moment: day_of(week_of(moment.now, offset).begins, number))


def weekday_ago(number: int, count: int = 1) -> Atom:
    """The last such weekday before today; with a `count` the one so many back."""

    def place(moment: Moment) -> Period:
        back = (moment.now.weekday() - number) % 7 or 7
        return day_of(moment.now, -back - 7 * (count - 1))

    return fixed(Level.DAY, place)


def weekday_ahead(number: int, weeks: int = 0) -> Atom:
    """The coming such weekday, or so many weeks after it."""

    def place(moment: Moment) -> Period:
        ahead = (number - moment.now.weekday()) % 7 or 7
        return day_of(moment.now, ahead + 7 * weeks)

    return fixed(Level.DAY, place)


def yearly(level: Level, of_year: Callable[[int], Period | None], needs: Company = Company.NONE, rel: str = "") -> Atom:
    """What comes once a year: a month, a season, a date, a holiday. `rel` is last, this or next."""

    def place(outer: Period | None, moment: Moment) -> Period | None:
        if outer:
            return of_year(outer.begins.year)
        near = _by_relation(_years_around(of_year, moment, 2), rel, moment)
        # 29 February may be eight years away
        return near or _by_relation(_years_around(of_year, moment, 8), rel, moment)

    return Atom(level, place, fixed=bool(rel), needs=needs, cycle="yearly")


def _years_around(of_year: Callable[[int], Period | None], moment: Moment, reach: int) -> list[Period]:
    years = range(max(1, moment.now.year - reach), min(9998, moment.now.year + reach) + 1)
    return [period for year in years if (period := of_year(year))]


def _by_relation(periods: list[Period], rel: str, moment: Moment) -> Period | None:
    if rel == "last":
        return max((period for period in periods if period.ends <= moment.now), default=None)
    if rel == "next":
        return next((period for period in periods if period.begins > moment.now), None)
    if rel == "this":
        return nearest(
            (period for period in periods if period.ends > year_of(moment.now).begins), moment._replace(tense="any")
        )
    return nearest(periods, moment)


def month(number: int, rel: str = "", needs: Company = Company.NONE) -> Atom:
    return yearly(Level.MONTH, lambda year: months(year, number, 1, "month"), needs, rel)


def season(name: str, rel: str = "", needs: Company = Company.NONE) -> Atom:
    return yearly(Level.MONTH, lambda year: season_of(year, name), needs, rel)


def date_of_year(month: int, day: int, length: int = 1, rel: str = "") -> Atom:
    return yearly(Level.DAY, lambda year: _date(year, month, day, length), rel=rel)


def date(year: int, month: int, day: int) -> Atom:
    return fixed(Level.DAY, lambda _: _date(year, month, day))._replace(cycle="yearly")


def month_of_year(number: int, year: int) -> Atom:
    return fixed(Level.MONTH, lambda _: months(year, number, 1, "month"))


def holidays(first: int, length: int) -> Atom:
    """Months of every year, such as the summer holidays."""
    return yearly(Level.MONTH, lambda year: months(year, first, length, "season"), Company.TENSE)


def _date(year: int, month: int, day: int, length: int = 1) -> Period | None:
    try:
        return day_of(datetime(year, month, day), 0, length)
    except ValueError:  # 30 February
        return None


def day_of_month(number: int) -> Atom:
    def place(outer: Period | None, moment: Moment) -> Period | None:
        if outer:
            return _date(outer.begins.year, outer.begins.month, number)
        firsts = (month_of(moment.now, n).begins for n in range(-2, 3))
        return nearest([day for first in firsts if (day := _date(first.year, first.month, number))], moment)

    return Atom(Level.DAY, place, cycle="monthly")


def edge(name: str, of: Level = Level.MONTH) -> Atom:
    """The beginning, middle or end of the period it stands within; alone of this month, week or year."""
    own = {Level.MONTH: month_of, Level.YEAR: year_of, Level.WEEK: week_of}[of]

    def place(outer: Period | None, moment: Moment) -> Period:
        return _edge_of(outer or own(moment.now), name)

    return Atom(Level.EDGE, place, cycle="yearly" if of == Level.YEAR else "monthly")


def _edge_of(whole: Period, name: str) -> Period:
    if whole.grain == "month":
        first, end = _EDGES[name]
        begins = whole.begins + first * DAY if first >= 0 else whole.ends + first * DAY
        return Period(begins, min(whole.begins + end * DAY, whole.ends), "week")
    third = (whole.ends - whole.begins) / 3
    if whole.grain in ("season", "year"):
        return _months_at_edge(whole, name)
    place = {"early": 0, "begin": 0, "first week": 0, "mid": 1}.get(name, 2)
    return Period(midnight(whole.begins + place * third), midnight(whole.begins + (place + 1) * third), "vague")


def _months_at_edge(whole: Period, name: str) -> Period:
    """One month of a season; of a year the first, the last, or the two in the middle; early and late are three."""
    size = 1 if whole.grain == "season" or name in ("begin", "end") else 3
    if name == "mid":
        return month_of(whole.begins, 1 if whole.grain == "season" else 5, 1 if size == 1 else 2)
    return month_of(whole.begins, 0, size) if name in ("early", "begin") else month_of(whole.ends, -size, size)
