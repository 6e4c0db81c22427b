"""English time words as patterns on lower-case text, each with the atom it means."""

import re

from soulgraph.senses.values import atoms, calendar_atoms, clock_atoms, distance_atoms
from soulgraph.senses.values import english_words as words
from soulgraph.senses.values.atoms import Atom, Company, Level
from soulgraph.senses.values.durations import duration
from soulgraph.senses.values.english_words import (
    COUNT,
    DAY_NUMBER,
    DURATION,
    HOUR,
    MONTH,
    NUMBER,
    ORDINAL,
    PART,
    RELATION,
    SEASON,
    SHORT_WEEKDAY,
    UNIT,
    WEEKDAY,
    YEAR,
)
from soulgraph.senses.values.rules import Match, Rule

_GREETING = re.compile(r"\b(?:merry|happy|jolly)\s+$")
_OF_CHRISTMAS = re.compile(
    r"\s*(?:trees?|carols?|cards?|presents?|gifts?|lights?|songs?|music|movies?|jumpers?|cakes?)\b"
)
_REPEATED = re.compile(r"\b(?:times?|once|twice|ever)\s+$|\b(?:have|has|had)(?:n't| not| never)\b.*$|'ve never\b.*$")
_SHORT_LEAD = re.compile(r"\b(?:on|by|until|till?|every|each|since)\s+$")
_CLOCK_AFTER = re.compile(r"\s+(?:at\s+)?\d{1,2}(?::\d\d|\s*[ap]m)")
_SENTENCE_BEGIN = re.compile(r"(?:^|[.!?\n])\s*$")
_NO_YEAR = re.compile(r"\s*(?:[%°]|(?!is\b|was\b|this\b)[a-z]+s\b)")
_RANGE = re.compile(rf"\s*(?:to|until|till|and|-)\s*{HOUR}\b(?!\s*%)")
_MONTH_BEFORE = re.compile(rf"{words.MONTH_NAME}\s*$")
_NEAR = {
    "week": calendar_atoms.near_week,
    "month": calendar_atoms.near_month,
    "year": calendar_atoms.near_year,
    "weekend": calendar_atoms.near_weekend,
}
_EDGES = {"end": "end", "beginning": "begin", "start": "begin", "middle": "mid"}  # the others are named as in English
_EDGE_LEVELS = {"month": Level.MONTH, "year": Level.YEAR, "week": Level.WEEK}


def _before(found: Match) -> str:
    return found.string[max(0, found.start() - 32) : found.start()]


def _after(found: Match) -> str:
    return found.string[found.end() : found.end() + 24]


def _weekday(found: Match) -> Atom:
    day = words.weekday_number(found["day"])
    if not found["rel"]:
        return calendar_atoms.weekday(day)
    if words.relation(found["rel"]) == "last":
        return calendar_atoms.weekday_ago(day)
    if found["rel"].endswith("coming"):
        return calendar_atoms.weekday_ahead(day)
    return calendar_atoms.weekday_of_week(day, words.offset(found["rel"]))


def _short_weekday(found: Match) -> Atom | None:
    known = found["rel"] or _SHORT_LEAD.search(_before(found)) or _CLOCK_AFTER.match(_after(found))
    return _weekday(found) if known else None


def _weekdays_ago(found: Match) -> Atom:
    return calendar_atoms.weekday_ago(words.weekday_number(found["day"]), int(words.count(found["n"])))


def _week_from_day(found: Match) -> Atom:
    weeks = int(words.count(found["n"] or "a"))
    if found["day"] in ("today", "tomorrow"):
        return calendar_atoms.near_day(7 * weeks + (found["day"] == "tomorrow"))
    return calendar_atoms.weekday_ahead(words.weekday_number(found["day"]), weeks)


def _near(found: Match) -> Atom:
    return _NEAR[found["unit"]](words.offset(found["rel"]))


def _near_part(found: Match) -> Atom:
    part = "night" if found["part"] == "nite" else found["part"]
    return clock_atoms.near_part(words.offset(found["rel"]), part, part)


def _before_last(found: Match) -> Atom:
    return _NEAR[found["unit"]](-2 if found["side"] == "before last" else 2)


def _ago(found: Match) -> Atom:
    unit, count = words.counted(found["n"], found["unit"])
    atom = distance_atoms.day_ago if found["today"] else distance_atoms.units_ago
    return atom(unit, count + (0.5 if found["half"] else 0))


def _ahead(found: Match) -> Atom | None:
    if _REPEATED.search(_before(found)):
        return None
    return distance_atoms.units_taken(*words.counted(found["n"], found["unit"]))


def _time_ahead(found: Match) -> Atom | None:
    seconds = duration(found["time"])
    if seconds is None or found["time"] in ("a minute", "a min") or _REPEATED.search(_before(found)):
        return None
    return clock_atoms.from_now(seconds)


def _time_ago(found: Match) -> Atom | None:
    seconds = duration(found["time"])
    return None if seconds is None else clock_atoms.from_now(-seconds)


def _around(found: Match) -> Atom:
    unit, count = words.counted(found["n"], found["unit"])
    return distance_atoms.units_around(unit, round(count) if found["rel"] == "next" else -round(count))


def _date(found: Match) -> Atom | None:
    if found["month"] == "may" and found["day"] == "first" and not found["year"]:
        return None
    month = words.month_number(found["month"])
    day = words.day_number(found["day"])
    return (
        calendar_atoms.date(int(found["year"]), month, day)
        if found["year"]
        else calendar_atoms.date_of_year(month, day)
    )


def _iso_date(found: Match) -> Atom:
    return calendar_atoms.date(int(found["y"]), int(found["m"]), int(found["d"]))


def _numeric_date(found: Match) -> Atom:
    """With slashes the month first, as Americans write it, unless it can only be the day; with dots the day."""
    first, second = int(found["a"]), int(found["b"])
    month, day = (second, first) if first > 12 or found["dot"] == "." else (first, second)
    return calendar_atoms.date(int(found["y"]), month, day)


def _month(found: Match) -> Atom | None:
    number = words.month_number(found["month"])
    if found["rel"]:
        return calendar_atoms.month(number, words.relation(found["rel"]))
    lead = words.LEAD.search(_before(found))
    # "may march" is no month
    return calendar_atoms.month(number) if lead and not _MONTH_BEFORE.search(lead[0]) else None


def _year(found: Match) -> Atom | None:
    opens = _SENTENCE_BEGIN.search(_before(found)) and _after(found).startswith(",")
    if not (opens or words.LEAD.search(_before(found))) or _NO_YEAR.match(_after(found)):
        return None
    year = int(found["year"].removeprefix("'"))
    return calendar_atoms.year(year if year > 99 else year + (1900 if year >= 40 else 2000))


def _decade(found: Match) -> Atom:
    first = int(found["decade"])
    return calendar_atoms.year(first if first > 99 else 1900 + first, 10)


def _season(found: Match) -> Atom:
    name = words.SEASONS[found["season"]]
    if found["rel"]:
        return calendar_atoms.season(name, words.relation(found["rel"]))
    return calendar_atoms.season(name, needs=Company.NONE if words.LEAD.search(_before(found)) else Company.ATOM)


def _holiday(found: Match) -> Atom | None:
    if _GREETING.search(_before(found)) or _OF_CHRISTMAS.match(_after(found)):
        return None
    month, day, length = words.HOLIDAYS[found["holiday"]]
    return calendar_atoms.date_of_year(month, day, length, words.relation(found["rel"]) if found["rel"] else "")


def _day_of_month(found: Match) -> Atom | None:
    """The 8th; "the eighth" only where a day may stand, since it is often the eighth of something."""
    lead = found["day"][0].isdigit() or words.DAY_LEAD.search(_before(found))
    if not lead or not words.FOLLOW.match(_after(found)):
        return None
    return calendar_atoms.day_of_month(words.day_number(found["day"]))


def _bare_clock(found: Match) -> Atom | None:
    lead = words.CLOCK_LEAD.search(_before(found))
    if not lead or not words.FOLLOW.match(_after(found)):
        return None
    sure = lead["at"] or _RANGE.match(_after(found))
    return clock_atoms.clock(f"at {found['time']}", Company.NONE if sure else Company.TENSE)


def _clock(found: Match) -> Atom:
    return clock_atoms.clock(found[0])


def _hours_and_minutes(found: Match) -> Atom:
    return clock_atoms.clock(f"{found['h']}:{found['m']}")


def _minutes_to(found: Match) -> Atom | None:
    """Ten to seven, but not "from ten to seven"."""
    return None if _before(found).endswith(("from ", "between ")) else clock_atoms.clock(found[0])


def _part_needs(found: Match) -> Company:
    """A verb is enough for "in the morning", but not for "a good morning"."""
    return Company.TENSE if found[0].startswith("the") and _before(found).endswith("in ") else Company.ATOM


def _edge(found: Match) -> Atom:
    return calendar_atoms.edge(_EDGES.get(found["edge"], found["edge"]))._replace(needs=Company.ATOM)


def _edge_of_this(found: Match) -> Atom:
    return calendar_atoms.edge(_EDGES[found["edge"]], _EDGE_LEVELS[found["unit"]])


_SOME = "(?:(?:about|around|like|roughly|exactly|another|maybe|just) )*"
_TO_NUMBER = "(?:twenty[- ]five|twenty|ten|five|25|20|10|5)"
_RECURRING = f"(?:{WEEKDAY}|{SHORT_WEEKDAY}|{MONTH}|{SEASON}|{PART}|weekend|christmas|halloween)"

RULES: list[Rule] = [
    (r"(?:the )?day after tomorrow", lambda _: calendar_atoms.near_day(2)),
    (r"(?:the )?day before yesterday", lambda _: calendar_atoms.near_day(-2)),
    (r"(?:the )?night before last", lambda _: clock_atoms.near_part(-2, "night", "night")),
    (r"tomorrow|tmrw|tmr|tomorow|tommorow|tommorrow", lambda _: calendar_atoms.near_day(1)),
    (r"today", lambda _: calendar_atoms.near_day(0)),
    (r"yesterday", lambda _: calendar_atoms.near_day(-1)),
    (r"tonight|tonite", lambda _: clock_atoms.near_part(0, "tonight", "evening")),
    (rf"(?P<n>{COUNT}) (?P<day>{WEEKDAY})s ago", _weekdays_ago),
    (rf"(?P<n>{COUNT}) weeks? (?:from|on) (?P<day>today|tomorrow|{WEEKDAY})", _week_from_day),
    (rf"(?P<n>(?!))?(?P<day>today|tomorrow|{WEEKDAY}) week", _week_from_day),
    (rf"(?P<rel>(?!))?(?P<day>{WEEKDAY})s", lambda found: _weekday(found)._replace(recurs="weekly")),
    (rf"(?:(?P<rel>{RELATION}) )?(?<!black )(?P<day>{WEEKDAY})(?! (?:roast|papers?|best|school|addams)\b)", _weekday),
    (rf"(?:(?P<rel>{RELATION}) )?(?P<day>{SHORT_WEEKDAY})", _short_weekday),
    (r"(?:the )?(?P<unit>week|weekend|month|year) (?P<side>before last|after next)", _before_last),
    (rf"(?:the )?(?P<edge>first week|last week)(?= (?:of|in) (?:{MONTH}|{RELATION} month))", _edge),
    (rf"(?P<rel>{RELATION}) (?P<unit>weekend|week|month|year)", _near),
    (rf"(?P<rel>last|this) (?P<part>{PART}|nite)", _near_part),
    (rf"(?:the )?(?P<rel>last|past|next) (?P<n>{NUMBER}|couple of) (?P<unit>{UNIT})", _around),
    (r"the weekend|(?<=every )weekend|(?<=each )weekend", lambda _: calendar_atoms.near_weekend(None)),
    (r"weekends", lambda _: calendar_atoms.near_weekend(None)._replace(recurs="weekly")),
    (
        r"(?:a few|several|some) (?P<unit>day|week|month|year)s (?:ago|back)",
        lambda f: distance_atoms.few_ago(f["unit"]),
    ),
    (rf"(?P<n>{COUNT})(?P<half> and a half)? (?P<unit>{UNIT}) (?:ago|back)(?P<today> today)?", _ago),
    (rf"(?P<time>{DURATION}) (?:ago|back)", _time_ago),
    (rf"in {_SOME}(?P<n>{COUNT}) (?P<unit>{UNIT})(?:'s?)?(?: time)?", _ahead),
    (rf"(?P<n>{COUNT}) (?P<unit>{UNIT}) (?:from (?:now|today)|hence)", _ahead),
    (rf"in {_SOME}(?P<time>{DURATION})(?:'s?)?(?: time)?", _time_ahead),
    (rf"(?P<time>{DURATION}) (?:from now|hence)", _time_ahead),
    (rf"(?P<time>{DURATION})(?=,? (?:and )?then )", _time_ahead),
    (rf"(?P<month>{MONTH}) (?:the )?(?P<day>{DAY_NUMBER})(?!:)(?:,? (?P<year>{YEAR}))?", _date),
    (rf"(?:the )?(?P<day>{DAY_NUMBER})(?: of)? (?P<month>{MONTH})(?:,? (?P<year>{YEAR}))?", _date),
    (r"(?<!-)(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})", _iso_date),
    (r"(?P<a>\d{1,2})(?P<dot>[/.])(?P<b>\d{1,2})[/.](?P<y>(?:19|20)\d\d)", _numeric_date),
    (
        rf"(?P<month>{MONTH}),?(?: of)? (?P<year>{YEAR})",
        lambda found: calendar_atoms.month_of_year(words.month_number(found["month"]), int(found["year"])),
    ),
    (rf"(?:(?P<rel>{RELATION}) )?(?P<month>{MONTH})", _month),
    (rf"(?:(?P<rel>{RELATION}) |the )?(?P<season>{SEASON})", _season),
    (rf"(?:(?P<rel>{RELATION}) )?(?P<holiday>{'|'.join(words.HOLIDAYS)})", _holiday),
    (r"the (?P<decade>(?:(?:19|20)\d|[2-9])0)'?s", _decade),
    (rf"the (?P<day>{ORDINAL})", _day_of_month),
    (r"(?<=on )(?P<day>\d{1,2}(?:st|nd|rd|th))", _day_of_month),
    (r"(?:the )?(?P<edge>end|beginning|start|middle) of (?:the|this) (?P<unit>month|year|week)", _edge_of_this),
    (rf"(?:the )?(?P<edge>end|beginning|start|middle)(?= of (?:next |last |{MONTH}|{YEAR}))", _edge),
    (rf"(?P<edge>early|mid|late)(?=[- ](?:{MONTH}|{YEAR}|{RELATION} (?:week|month|year|{SEASON})))", _edge),
    (r"(?:every|each)(?: single| other)? (?P<unit>day|week|month|year)", lambda found: atoms.every(found["unit"])),
    (r"daily(?=\s*(?:$|[^\w\s]|at\b|in\b|and\b))", lambda _: atoms.every("day")),
    (r"every weekday|weekdays", lambda _: atoms.workdays()),
    (rf"(?:every|each)(?: single| other)?(?= {_RECURRING})", lambda _: atoms.every_such()),
    (r"\d{1,2}:\d{2}(?!:)(?:\s*[ap]\.?m\b\.?)?", _clock),
    (rf"(?:\d{{1,2}}\.\d{{2}}|{HOUR}) ?[ap](?:m|\.m\.?)", _clock),
    (rf"(?:half|(?:a )?quarter|{_TO_NUMBER}|{NUMBER} minutes?) (?:past|to|till) {HOUR}", _minutes_to),
    (rf"(?<=at )half (?P<hour>{HOUR})", lambda found: clock_atoms.clock(f"half past {found['hour']}")),
    (rf"{HOUR} o'?clock", _clock),
    (r"(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d) ?(?:h|hrs|hours)", _hours_and_minutes),
    (r"(?<=at )(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)", _hours_and_minutes),
    (rf"{HOUR}(?= in the (?:morning|afternoon|evening)| at night)", lambda f: clock_atoms.clock(f"at {f[0]}")),
    (rf"(?P<time>{HOUR}(?:[ .](?:\d\d|thirty|fifteen|forty[- ]five|oh five|twenty|ten))?)(?:-?ish)?", _bare_clock),
    (r"noon|midday|(?:(?<=at )|(?<=by )|(?<=til )|(?<=till )|(?<=after )|(?<=before )|(?<=around ))midnight", _clock),
    (rf"(?:the )?(?P<part>{PART})", lambda found: clock_atoms.part(found["part"], found["part"], _part_needs(found))),
    (rf"(?P<year>{YEAR}|'\d\d)", _year),
]
