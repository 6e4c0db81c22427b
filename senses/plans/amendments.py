"""What changes a plan: that it is off, at another time, settled, or not; and what time is meant then."""

from datetime import datetime, timedelta
from typing import Literal

from soulgraph.senses.plans.finding import FoundPlan
from soulgraph.senses.plans.words import patterns
from soulgraph.senses.text import normalise
from soulgraph.senses.values.mentions import TimeMention, find_times

Amendment = Literal["cancel", "move", "confirm", "deny"]

_MAX_ANSWER = 60  # characters of a text that only says yes or no
_HALF_DAY = timedelta(hours=12)


def amendment_in(text: str, answers: bool) -> Amendment | None:
    """What the text does to a plan; `answers`: the person was asked whether one is settled."""
    text = normalise(text)
    both = patterns("both")
    answers = answers and len(text) <= _MAX_ANSWER
    if both["cancel"].search(text):
        return "cancel"
    if answers and both["refuses"].search(text):
        return "deny"
    if both["move"].search(text):
        return "move"
    return "confirm" if answers and both["agrees"].search(text) else None


def refers_to_last(text: str) -> bool:
    """Whether it may mean what was spoken of last without naming it: "make it eight"."""
    return len(text) <= _MAX_ANSWER and bool(patterns("both")["refers"].search(normalise(text)))


def time_for(text: str, begins: datetime | None, grain: str, now: datetime) -> FoundPlan | None:
    """The time that the text names, as a plan without content; None if none to come is named.

    What it lacks is the plan's own: a bare clock is of its day, a bare day keeps its clock.
    """
    text = normalise(text)
    times = _to_come(text, now) or _to_come(patterns("both")["bare"].sub("at ", text), now)
    if not times:
        return None
    time = times[-1]
    if begins and time.grain == "minute" and not patterns("both")["names_day"].search(time.text):
        at = _nearest_clock(begins, time)
        return FoundPlan("plan", "", at, at + timedelta(minutes=1), "minute", time.recurs)
    if begins and time.grain == "day" and grain == "minute" and time.ends - time.begins == timedelta(days=1):
        at = datetime.combine(time.begins.date(), begins.time())
        return FoundPlan("plan", "", at, at + timedelta(minutes=1), "minute", time.recurs)
    return FoundPlan("plan", "", time.begins, time.ends, time.grain, time.recurs)


def _to_come(text: str, now: datetime) -> list[TimeMention]:
    return [time for time in find_times(text, now, "future") if time.ends > now and time.grain != "vague"]


def _nearest_clock(begins: datetime, time: TimeMention) -> datetime:
    """ "Eight" in place of seven in the evening is eight in the evening."""
    same_day = datetime.combine(begins.date(), time.begins.time())
    candidates = [same_day, same_day - _HALF_DAY, same_day + _HALF_DAY]
    return min((one for one in candidates if one.date() == begins.date()), key=lambda one: abs(one - begins))
