"""What a clause is: a reminder that is asked for, something ahead of the person, a promise of the soul, or neither."""

from functools import lru_cache
from typing import Literal, NamedTuple

from soulgraph.senses.intents.device_requests import asks_for_device
from soulgraph.senses.plans.clauses import TIME, Clause
from soulgraph.senses.plans.words import Patterns
from soulgraph.soul.plan_times import PlanKind

Speaker = Literal["user", "soul"]


class Reading(NamedTuple):
    kind: PlanKind
    unsure: bool = False


class Sentence(NamedTuple):
    """A clause with those of its sentence."""

    clause: Clause
    around: tuple[Clause, ...]

    @property
    def whole(self) -> str:
        return ", ".join(one.masked for one in self.around)


def asks_reminder(clause: Clause, words: Patterns) -> bool:
    """Whether it asks the soul to say something later, and does not call that off, tell of it, or imagine it."""
    return _asks_reminder(clause.masked, bool(clause.times), words)


@lru_cache(maxsize=256)
def _asks_reminder(text: str, has_time: bool, words: Patterns) -> bool:
    """Remembered: every rule asks it anew of every clause around."""
    is_asked = words["reminds"].search(text) or (has_time and words["reminds"].search(text.replace(f" {TIME}", "")))
    if not is_asked or any(words[name].search(text) for name in ("stops", "reported", "supposes")):
        return False
    return not words["habit"].match(text)


def read_user(sentence: Sentence, words: Patterns) -> Reading | None:
    """What a clause with a time that is to come says, spoken by a person."""
    clause = sentence.clause
    text = clause.masked
    if asks_reminder(clause, words):
        return Reading("reminder")
    if _is_off(sentence, words):
        return None
    if words["asks_soul"].search(text) and not words["strangers"].search(text):
        return None if _operates(clause) else Reading("reminder")
    if not _is_plan(sentence, words):
        return None
    if _is_order(sentence, words):
        return Reading("reminder")
    return Reading("plan", is_unsure(sentence, words))


def _is_order(sentence: Sentence, words: Patterns) -> bool:
    """Whether nothing is said but what is to be done: "call grandma on Sunday"."""
    return len(sentence.around) == 1 and bool(words["orders"].search(sentence.clause.masked))


def is_unsure(sentence: Sentence, words: Patterns) -> bool:
    """By its own words, or by those that follow: "…, depends on the weather"."""
    after = [one.masked for one in sentence.around if one.start > sentence.clause.start]
    return any(words["hedge"].search(text) for text in (sentence.clause.masked, *after) if not text.startswith("so "))


def read_soul(sentence: Sentence, words: Patterns) -> Reading | None:
    """The same of what the soul says: it may have promised something."""
    text = sentence.clause.masked
    blocked = ("stops", "hypothetical", "negated", "fiction")
    if not words["promises"].search(text) or any(words[name].search(text) for name in blocked):
        return None
    return None if _soul_asks(sentence, words) else Reading("promise", bool(words["hedge"].search(text)))


def _soul_asks(sentence: Sentence, words: Patterns) -> bool:
    """Whether it is a question, not a promise with "okay?" after it."""
    clause, last = sentence.clause, sentence.around[-1]
    is_tagged = last is not clause and bool(words["tag"].search(last.masked))
    return bool(words["asked"].search(clause.masked)) or (clause.asked and not is_tagged)


def _is_off(sentence: Sentence, words: Patterns) -> bool:
    """Whether it was cancelled, is usual, imagined, or told of somebody's words."""
    clause = sentence.clause
    if any(words[name].search(clause.masked) for name in ("stops", "habit", "hypothetical", "reported")):
        return True
    before = [one for one in sentence.around if one.start < clause.start]
    if any(words["hypothetical"].match(one.masked) or words["reported"].search(one.masked) for one in before):
        return True
    after = [one for one in sentence.around if one.start > clause.start]
    if any(words["usual"].search(one.text) for one in after):
        return True
    return any(words["stops"].search(one.masked) and not words["plans"].match(one.masked) for one in after[:1])


def _is_plan(sentence: Sentence, words: Patterns) -> bool:
    text = sentence.clause.masked
    if words["presupposes"].search(text) and not words["strangers"].search(text):
        return True
    if _asks(sentence.clause, words) or words["negated"].search(text) or words["chat"].search(text):
        return False
    if words["past"].search(text) or any(time.recurs for time in sentence.clause.times):
        return False
    if words["strangers"].search(text) and not _with_us(sentence, words):
        return False
    if words["weather"].search(text) and not words["goes"].search(text):
        return False
    if not words["plans"].search(text) and not _takes_part(sentence, words):
        return False
    return bool(words["goes"].search(text)) or not _operates(sentence.clause)


def _with_us(sentence: Sentence, words: Patterns) -> bool:
    """Whether somebody else does it with or to the person."""
    return _takes_part(sentence, words) or bool(words["with_us"].search(sentence.clause.masked))


def _takes_part(sentence: Sentence, words: Patterns) -> bool:
    """Whether the person says next what they do there: "…, I'm bringing the quiche"."""
    after = [one for one in sentence.around if one.start > sentence.clause.start and not one.times]
    return any(words["takes_part"].search(one.masked) for one in after)


def _asks(clause: Clause, words: Patterns) -> bool:
    return clause.asked or bool(words["question"].search(clause.masked))


def _operates(clause: Clause) -> bool:
    """Whether it is a command for a device."""
    return asks_for_device(clause.masked.replace(TIME, " "))
