"""Finds the time expressions of a sentence and what they mean: "last Friday", 下周三下午三点, "since March".

Weeks begin on Monday. All times are local wall time, all ranges half-open.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from soulgraph.senses.values.atoms import EVERY_SUCH, Atom, Company, Level
from soulgraph.senses.values.periods import DAY, Grain, Moment, Period, Tense, day_of
from soulgraph.senses.values.rules import Found
from soulgraph.senses.values.tense import Tenses
from soulgraph.senses.values.time_words import fold, time_words

MAX_MENTIONS = 200  # of one text; more are no conversation
_MAX_GAP = 20
_MAX_LEAD = 40
_GAP = re.compile(
    r"(?:[\s,、-]|(?:of|in|on|at|the|around|about|by|during|until|till|for|early|late|'s)\b|[的在份]|那天|大概|大约|差不多)*"
)
_DAY_GAP = re.compile(r"[\s,，(（]*(?:the\s+)?")
_DAY_GRAINS = ("day", "part", "minute")
_MAX_DAY_GAP = 30
_SENTENCE_END = re.compile(r"[.!?。！？\n…]")
_SINCE = re.compile(r"\b(?:ever )?since (?:about |around |the )?$|(?:自从|自打|打从)$")
_SINCE_WITH_END = re.compile(r"[自从打]$")
_SINCE_END = re.compile(r"以来|至今|到现在|到今天|(?P<from_then>开始|起(?![来床飞]))")
_TO = re.compile(r"\s*(?:(?P<to>to|and)|until|till|through|thru|[-–—~]|到|至)\s*")
_FROM = re.compile(r"\b(?P<from>from|between)(?: the)?\s*$")
_MOVED = re.compile(r"\b(?:moved|changed|switched|postponed|pushed|rescheduled|shifted)\b[^.!?]*$")
_HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|possibly|around|about|roughly|approximately|might|some ?time)\b"
    r"|大概|大约|可能|也许|差不多|或许|估计"
)
_HEDGE_END = re.compile(r"\s*(?:or so\b|-?ish\b|i think\b|左右|前后|上下|多(?![少久])|来钟)")
_CLAUSE_END = re.compile(r"[.!?。！？\n,，;；]")
_HINTS = re.compile(
    r"\b(?P<evening>dinner|supper|drinks|party|concert|gig|movie|film|match|kicks? ?off|pub|theatre|sunset|bedtime)\b"
    r"|\b(?P<morning>wakes?|woke|waking|get up|gets up|got up|alarm|breakfast|sunrise)\b"
    r"|(?P<evening_zh>晚饭|晚餐|晚宴|电影|演唱会|球赛|聚餐|下班|酒吧|睡觉|派对)"
    r"|(?P<morning_zh>起床|睡醒|就醒|醒了|闹钟|早饭|早餐|上班|叫醒)"
)


@dataclass(frozen=True, slots=True)
class TimeMention:
    """A time expression and the half-open range it means, in local wall time."""

    text: str
    start: int
    end: int
    begins: datetime
    ends: datetime
    grain: Grain  # how exact it is
    recurs: str = ""  # daily, weekdays, weekly, monthly or yearly; the range is then the next time
    hedged: bool = False  # "maybe on Friday", "around seven"


class _Since(NamedTuple):
    """The span with the words that let it last until today: "since March", 从三月开始; the latter may be to come."""

    start: int
    end: int
    is_past: bool


def find_times(text: str, now: datetime, tense: Tense = "any") -> list[TimeMention]:
    """The time expressions of a text in order; what is ambiguous follows `tense`, or with "any" the verbs around it."""
    folded = fold(text)
    chains = list(islice(_chains(folded, time_words(folded)), MAX_MENTIONS))
    if not chains:
        return []
    tenses = Tenses(folded) if tense == "any" else None
    wall = now.replace(tzinfo=None)
    mentions: list[TimeMention] = []
    for chain in chains:
        start, end = chain[0].start, chain[-1].end
        moment = Moment(wall, tenses.at(start, end) if tenses else tense)
        before = mentions[-1] if mentions else None
        if before and _continues(folded, before, chain) and (joined := _joined(text, before, chain)):
            mentions[-1] = joined
        elif mention := _mention(text, folded, chain, moment, _day_before(folded, before, chain, moment)):
            mentions.append(mention)
    return mentions


def _chains(folded: str, found: Sequence[Found]) -> Iterator[list[Found]]:
    """Neighbouring atoms that mean one time together: a day with its part and its clock time."""
    chain: list[Found] = []
    for atom in found:
        if chain and not _belongs(folded, chain, atom):
            yield chain
            chain = []
        chain.append(atom)
    if chain:
        yield chain


def _belongs(folded: str, chain: Sequence[Found], new: Found) -> bool:
    """Whether an atom stands within what is before it or around it, with nothing but small words between."""
    last = chain[-1].end
    atoms = [found.atom for found in chain if found.atom.recurs != EVERY_SUCH]
    same_day = any(_same_day(atom, new.atom) for atom in atoms)
    if new.start - last > _MAX_GAP or not (_DAY_GAP if same_day else _GAP).fullmatch(folded, last, new.start):
        return False
    if new.atom.recurs == EVERY_SUCH:
        return folded[last : new.start].isspace() and all(atom.level <= Level.PART for atom in atoms)
    if any(atom.level == new.atom.level for atom in atoms) and not same_day:
        return False
    if new.atom.fixed:
        return all(atom.level <= new.atom.level and not atom.fixed for atom in atoms)
    return not any(atom.fixed and atom.level < new.atom.level for atom in atoms)


def _same_day(one: Atom, other: Atom) -> bool:
    """A weekday with its date: Friday, 5 May."""
    cycles = {one.cycle, other.cycle}
    return one.level == other.level == Level.DAY and len(cycles) == 2 and "weekly" in cycles and "" not in cycles


def _mention(text: str, folded: str, chain: list[Found], moment: Moment, day: Period | None) -> TimeMention | None:
    recurs = _recurrence(chain)
    if not recurs and not _is_time(chain, moment, day):
        return None
    start, end = chain[0].start, chain[-1].end
    since = _since(folded, start, end)
    if recurs or (since and (since.is_past or moment.tense != "future")):
        moment = moment._replace(tense="future" if recurs else "past", recurs=bool(recurs))
    period = _resolve(chain, moment._replace(hint=_hint(folded, start, end)), None if recurs else day)
    if period is None:
        return None
    hedged = _is_hedged(folded, start, end)
    if since and period.begins < moment.now:
        start, end = since.start, since.end
        period = period._replace(ends=moment.today + DAY)
    return TimeMention(text[start:end], start, end, period.begins, period.ends, period.grain, recurs, hedged)


def _is_time(chain: list[Found], moment: Moment, day: Period | None) -> bool:
    """Whether it is a time at all: "morning" alone may be a greeting."""
    if len(chain) > 1:
        return True
    needs = chain[0].atom.needs
    if needs == Company.NO_PAST:
        return moment.tense != "past"
    return needs == Company.NONE or (needs == Company.TENSE and (moment.tense != "any" or day is not None))


def _day_before(folded: str, before: TimeMention | None, chain: list[Found], moment: Moment) -> Period | None:
    """The day that a time of the day shares with the mention before it in its sentence: 明天出发，七点起床."""
    if not before or before.recurs or any(found.atom.level > Level.PART or found.atom.fixed for found in chain):
        return None
    between = folded[before.end : chain[0].start]
    was = before.begins < moment.now
    if before.grain not in _DAY_GRAINS or len(between) > _MAX_DAY_GAP or _SENTENCE_END.search(between):
        return None
    if (was and moment.tense == "future") or (not was and moment.tense == "past"):
        return None
    return day_of(before.begins)


def _resolve(chain: list[Found], moment: Moment, day: Period | None = None) -> Period | None:
    """The atoms placed one within the other, the coarsest first; None for no day of the years 1 to 9999."""
    atoms = sorted((found.atom for found in chain), key=lambda atom: -atom.level)
    if len(atoms) > 1:
        dated = any(atom.level == Level.DAY and atom.cycle in ("monthly", "yearly") for atom in atoms)
        atoms = [atom for atom in atoms if (atom.cycle or not atom.recurs) and not (dated and atom.cycle == "weekly")]
    period = day
    try:
        for atom in atoms:
            period = atom.place(period, moment)
            if period is None:
                return None
    except (OverflowError, ValueError):
        return None
    return period


def _recurrence(chain: list[Found]) -> str:
    """How it recurs: as it says, or with "every" as its coarsest atom does."""
    said = next((found.atom.recurs for found in chain if found.atom.recurs), "")
    if said != EVERY_SUCH:
        return said
    others = (found.atom for found in chain if found.atom.recurs != EVERY_SUCH)
    coarsest = max(others, key=lambda atom: atom.level, default=None)
    return coarsest.cycle if coarsest else ""


def _since(folded: str, start: int, end: int) -> _Since | None:
    before = folded[max(0, start - _MAX_GAP) : start]
    after = _SINCE_END.match(folded, end)
    lead = _SINCE.search(before) or (_SINCE_WITH_END.search(before) if after else None)
    if not lead:
        return None
    is_past = not (after and after["from_then"])
    return _Since(start - len(lead[0]), after.end() if after else end, is_past)


def _continues(folded: str, first: TimeMention, chain: list[Found]) -> bool:
    """Whether a range goes on here: "from Monday to Thursday", 周一到周三, unless something was moved."""
    start = chain[0].start
    between = _TO.fullmatch(folded, first.end, start) if start - first.end <= _MAX_GAP else None
    before = folded[max(0, first.start - _MAX_LEAD) : first.start]
    if not between or first.recurs or _MOVED.search(before):
        return False
    lead = _FROM.search(before)
    if not between["to"] or (lead and (lead["from"] == "between") == (between["to"] == "and")):
        return True
    # only weekdays need no "from"
    return between["to"] == "to" and first.grain == "day" and chain[0].atom.cycle == "weekly"


def _joined(text: str, first: TimeMention, chain: list[Found]) -> TimeMention | None:
    """The range from the first time to the next that the chain may mean after it."""
    last = _resolve(chain, Moment(first.begins, "future"))
    if last is None or last.begins <= first.begins:
        return None
    end = chain[-1].end
    grain: Grain = first.grain if last.ends - first.begins <= DAY else "vague"
    ends = last.begins if last.grain == "minute" else last.ends
    return replace(first, text=text[first.start : end], end=end, ends=ends, grain=grain)


def _is_hedged(folded: str, start: int, end: int) -> bool:
    before = _CLAUSE_END.split(folded[max(0, start - _MAX_LEAD) : start])[-1]
    return bool(_HEDGE.search(before) or _HEDGE_END.match(folded, end))


def _hint(folded: str, start: int, end: int) -> str:
    """The part of the day that the words around speak for: dinner is in the evening."""
    found = _HINTS.search(folded, max(0, start - _MAX_LEAD), end + _MAX_LEAD)
    return (found.lastgroup or "").removesuffix("_zh") if found else ""
