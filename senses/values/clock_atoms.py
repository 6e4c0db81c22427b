"""Atoms of the day: its parts and the times of the clock."""

from datetime import datetime, timedelta

from soulgraph.senses.values.atoms import Atom, Company, Level, fixed
from soulgraph.senses.values.clocks import clocks
from soulgraph.senses.values.numbers import in_digits
from soulgraph.senses.values.periods import DAY, MINUTE, Moment, Period, midnight, nearest

_PART_HOURS = {
    "morning": (6, 12),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (20, 28),
    "small hours": (0, 6),
    "midday": (11, 14),
    "dusk": (17, 19),
}
_HINTED_HOURS = {"morning": (3, 12), "evening": (17, 24)}


def near_part(offset: int, word: str, name: str) -> Atom:
    return fixed(Level.PART, lambda moment: _part_of(moment.today + offset * DAY, word, name))


def part(word: str, name: str, needs: Company = Company.TENSE) -> Atom:
    """A part of the day; `word` is how it is written, so that clocks can be read with it."""

    def place(outer: Period | None, moment: Moment) -> Period | None:
        if outer:
            return _part_of(outer.begins, word, name)
        found = nearest([_part_of(moment.today + n * DAY, word, name) for n in (-1, 0, 1)], moment)
        return found and found._replace(loose=True)

    return Atom(Level.PART, place, needs=needs, cycle="daily")


def _part_of(day: datetime, word: str, name: str) -> Period:
    first, last = _PART_HOURS[name]
    begins = midnight(day)
    return Period(begins + timedelta(hours=first), begins + timedelta(hours=last), "part", word)


def clock(written: str, needs: Company = Company.NONE) -> Atom:
    """A time of the day in words or digits."""

    def place(outer: Period | None, moment: Moment) -> Period | None:
        offsets = _offsets(written, outer, moment)
        if not offsets:
            return None
        if outer and not outer.loose:
            return _minute(_of_day(midnight(outer.begins), offsets, moment))
        around = [moment.today + n * DAY + offset for n in (-1, 0, 1) for offset in offsets]
        return _minute(_chosen(around, moment))

    return Atom(Level.CLOCK, place, needs=needs, cycle="daily")


def _offsets(written: str, outer: Period | None, moment: Moment) -> list[timedelta]:
    """The times of the day it may mean; what recurs has one."""
    part = outer.part if outer else ""
    text = in_digits(f"{part} {written}")
    # by day, three o'clock is in the afternoon
    dated = outer is not None or 5 <= moment.now.hour < 21
    offsets = clocks(text, dated)
    if moment.hint and not part:
        first, last = _HINTED_HOURS[moment.hint]
        hinted = [offset for offset in clocks(text, dated=False) if first <= offset / timedelta(hours=1) < last]
        offsets = hinted or offsets
    return offsets[:1] if moment.recurs else offsets


def _of_day(day: datetime, offsets: list[timedelta], moment: Moment) -> datetime:
    times = [day + offset for offset in offsets]
    return _chosen(times, moment) if day == moment.today else times[0]


def _chosen(times: list[datetime], moment: Moment) -> datetime:
    """The last that has passed, or the first to come; the first of all if there is none."""
    times = sorted(times)
    if moment.tense == "past":
        return max((time for time in times if time <= moment.now), default=times[0])
    return next((time for time in times if time > moment.now), times[0])


def _minute(begins: datetime) -> Period:
    return Period(begins, begins + MINUTE, "minute")


def from_now(seconds: float) -> Atom:
    """So many seconds from now, to the minute."""
    return fixed(Level.CLOCK, lambda moment: _minute(_after(moment.now, seconds)))


def _after(now: datetime, seconds: float) -> datetime:
    return (now + timedelta(seconds=seconds)).replace(second=0, microsecond=0)
