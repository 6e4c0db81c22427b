"""Finds reminders, plans and promises in what a person or a soul says, by rules alone: zh and en."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from soulgraph.senses.plans.clauses import Clause, clauses_of
from soulgraph.senses.plans.content import content_of, with_topic
from soulgraph.senses.plans.grammar import Reading, Sentence, Speaker, asks_reminder, is_unsure, read_soul, read_user
from soulgraph.senses.plans.words import Patterns, patterns
from soulgraph.senses.text import normalise
from soulgraph.senses.values.mentions import TimeMention, find_times
from soulgraph.soul.language import lang_of
from soulgraph.soul.plan_times import PlanGrain, PlanKind, next_time

MAX_CHARS = 2000
"""Of a text: only its beginning is read."""
_MAX_CLAUSES = 60  # of a text; each is held against those beside it


@dataclass(frozen=True, slots=True)
class FoundPlan:
    """`begins` and `ends` are local wall time, None if no time was named; `unsure`: it is to be asked about."""

    kind: PlanKind
    content: str
    begins: datetime | None
    ends: datetime | None
    grain: PlanGrain = "vague"
    recurs: str = ""
    unsure: bool = False


@dataclass(frozen=True)
class Heard:
    """What was said as clauses, by whom and when."""

    text: str
    clauses: Sequence[Clause]
    now: datetime
    speaker: Speaker

    @classmethod
    def of(cls, text: str, now: datetime, speaker: Speaker) -> "Heard":
        text = normalise(text[:MAX_CHARS])[:MAX_CHARS]
        return cls(text, clauses_of(text, find_times(text, now, "future"))[:_MAX_CLAUSES], now, speaker)

    @cached_property
    def words(self) -> Patterns:
        return patterns(lang_of(self.text))

    @cached_property
    def whole(self) -> str:
        return ", ".join(clause.masked for clause in self.clauses)

    @cached_property
    def somewhere(self) -> frozenset[str]:
        """The names of the patterns that are found anywhere."""
        return self._names_in(self.whole)

    def here(self, clause: Clause) -> frozenset[str]:
        """The names of those that are found in a clause."""
        return self.somewhere if clause.masked == self.whole else self._names_in(clause.masked)

    def _names_in(self, text: str) -> frozenset[str]:
        return frozenset(name for name, pattern in self.words.items() if pattern.search(text))

    @cached_property
    def candidates(self) -> list[Clause]:
        """The clauses that may tell of something to keep: they name a time to come, or ask for a reminder.

        One whose time is that of a reminder beside it is not looked at twice.
        """
        words = self.words
        some = [one for one in self.clauses if _to_come(one, self.now) or self._asks(one, words)]
        return [one for one in some if not self._is_taken(one, words)]

    def _is_taken(self, clause: Clause, words: Patterns) -> bool:
        around = self.around(clause)
        return any(_takes_time_of(asking, clause, around, words) for asking in around)

    def _asks(self, clause: Clause, words: Patterns) -> bool:
        return self.speaker == "user" and asks_reminder(clause, words)

    def around(self, clause: Clause) -> tuple[Clause, ...]:
        return tuple(one for one in self.clauses if one.sentence == clause.sentence)


Judge = Callable[[Heard, Clause, FoundPlan | None], PlanKind | None]
"""Says what a clause tells of, given what the rules find in it; None if of nothing to keep."""


def find_plans(text: str, now: datetime, speaker: Speaker = "user", before: Sequence[str] = ()) -> list[FoundPlan]:
    """What is to be kept of a text by rules alone; `before` are the lines before it, the last one last."""
    return plans_in(Heard.of(text, now, speaker), before)


def plans_in(heard: Heard, before: Sequence[str] = (), judge: Judge | None = None) -> list[FoundPlan]:
    """The same of what was heard, by rules, or by a judge of what they find."""
    candidates = heard.candidates
    if not candidates:
        return []
    if heard.speaker == "user" and (answer := _answer_to_when(heard.clauses, heard.now, before)):
        return [answer]
    ruled = {clause.start: _found(heard, clause) for clause in heard.clauses}
    if judge is None:
        whole = heard.whole
        made_up = heard.words["fiction"].search(whole) or heard.words["joke"].search(whole)
        return [] if made_up else _each_once([one for one in ruled.values() if one])
    judged = [
        _judged(heard, clause, ruled[clause.start], judge) if clause in candidates else ruled[clause.start]
        for clause in heard.clauses
    ]
    return _each_once([one for one in judged if one])


def _judged(heard: Heard, clause: Clause, ruled: FoundPlan | None, judge: Judge) -> FoundPlan | None:
    around = heard.around(clause)
    kind = judge(heard, clause, ruled)
    if ruled and (ruled.kind == kind or _continues_reminder(Sentence(clause, around), heard.words)):
        return ruled
    if kind is None:
        return None
    time = _time_of(clause, around, heard.words, heard.now)
    return _plan(Reading(kind, is_unsure(Sentence(clause, around), heard.words)), clause, heard, time)


def _found(heard: Heard, clause: Clause) -> FoundPlan | None:
    around, words, now, speaker = heard.around(clause), heard.words, heard.now, heard.speaker
    time = _time_of(clause, around, words, now)
    if time is None and speaker == "soul" and not clause.times:
        time = _time_before(clause, around, words, now)
    if time is None and (clause.times or speaker == "soul" or not asks_reminder(clause, words)):
        return None
    if time and not clause.times and speaker == "user" and not asks_reminder(clause, words):
        return None
    if any(one.ends <= now and not one.recurs for one in clause.times):
        return None  # it tells of what was
    if any(_takes_time_of(one, clause, around, words) for one in around):
        return None
    reading = _read(Sentence(clause, around), words, speaker)
    return _plan(reading, clause, heard, time) if reading else None


def _read(sentence: Sentence, words: Patterns, speaker: Speaker) -> Reading | None:
    if speaker == "soul":
        return read_soul(sentence, words)
    return Reading("reminder") if _continues_reminder(sentence, words) else read_user(sentence, words)


def _continues_reminder(sentence: Sentence, words: Patterns) -> bool:
    """ "Remind me at five to …, and at nine to …": the second is one too."""
    clause = sentence.clause
    is_infinitive = clause.masked.removeprefix("and ").startswith("§ to ")
    return is_infinitive and any(asks_reminder(one, words) for one in sentence.around if one.start < clause.start)


def _plan(reading: Reading, clause: Clause, heard: Heard, time: TimeMention | None) -> FoundPlan | None:
    around = heard.around(clause)
    is_reminder = reading.kind == "reminder"
    content = content_of(clause, heard.clauses if is_reminder else around, heard.words, is_reminder)
    if reading.kind == "promise":
        content = with_topic(content, clause, around)
    if not content:
        return None
    if time is None or time.grain == "vague":
        return FoundPlan("reminder", content, None, None, unsure=True) if is_reminder else None
    return FoundPlan(reading.kind, content, time.begins, time.ends, time.grain, time.recurs, reading.unsure)


def _time_of(clause: Clause, around: Sequence[Clause], words: Patterns, now: datetime) -> TimeMention | None:
    """The first time to come that the clause names; a reminder without one takes it from beside."""
    own = _to_come(clause, now)
    if own or not asks_reminder(clause, words):
        return min(own, key=lambda time: time.grain == "vague", default=None)
    beside = [one for one in around if _takes_time_of(clause, one, around, words)]
    return next((time for one in beside for time in _to_come(one, now)), None)


def _time_before(clause: Clause, around: Sequence[Clause], words: Patterns, now: datetime) -> TimeMention | None:
    """Of a promise without a time, that of the clause before it: 明天你考完了，我听你讲."""
    before = [one for one in around if one.start < clause.start]
    if not before or words["promises"].search(before[-1].masked) or words["asked"].search(before[-1].masked):
        return None
    return next(iter(_to_come(before[-1], now)), None)


def _to_come(clause: Clause, now: datetime) -> list[TimeMention]:
    """The times that are not over; what recurs at its next time."""
    return [time for time in (_next(one, now) for one in clause.times) if time.ends > now]


def _next(time: TimeMention, now: datetime) -> TimeMention:
    if not time.recurs or time.begins > now:
        return time
    begins = next_time(time.begins, time.recurs, now)
    return replace(time, begins=begins, ends=begins + (time.ends - time.begins))


def _takes_time_of(asking: Clause, other: Clause, around: Sequence[Clause], words: Patterns) -> bool:
    """Whether a reminder without a time of its own is about the clause beside it, which has one."""
    if asking is other or asking.times or not other.times or not asks_reminder(asking, words):
        return False
    places = [one.start for one in around]
    return abs(places.index(asking.start) - places.index(other.start)) == 1 and not asks_reminder(other, words)


def _answer_to_when(clauses: Sequence[Clause], now: datetime, before: Sequence[str]) -> FoundPlan | None:
    """A bare time that answers "when?": what it is about was said before."""
    if len(before) < 2 or not clauses or not clauses[0].times:
        return None
    asked = patterns(lang_of(before[-1]))["when"].search(before[-1].lower())
    bare = not clauses[0].masked.replace("§", "").strip(" 吧啊呀呢,.")
    if not asked or not bare:
        return None
    time = clauses[0].times[0]
    topic = normalise(before[-2])
    words = patterns(lang_of(topic))
    told = clauses_of(topic, find_times(topic, now, "future"))
    reminder = next((one for one in told if asks_reminder(one, words)), None)
    content = content_of(reminder or told[0], told, words, reminder is not None) if told else ""
    kind: PlanKind = "reminder" if reminder else "plan"
    return FoundPlan(kind, content, time.begins, time.ends, time.grain, time.recurs) if content else None


def _each_once(found: Sequence[FoundPlan]) -> list[FoundPlan]:
    """Without those that only name again what was asked for at the same time."""
    kept: list[FoundPlan] = []
    for plan in found:
        if not any(_is_same(one, plan) for one in kept):
            kept.append(plan)
    return kept


def _is_same(one: FoundPlan, other: FoundPlan) -> bool:
    if one.begins == other.begins and one.ends == other.ends:
        return one.kind != other.kind
    return other.begins is None and one.content == other.content
