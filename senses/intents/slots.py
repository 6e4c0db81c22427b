"""Fills the slots of an intent from the words that belong to it, and asks for missing ones.

A slot with a pattern takes what the pattern captures, one with values the value that is named, and one with
neither finds its number, duration or time anywhere in the words. The text is then parsed by the slot's type.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

import regex

from soulgraph.senses.intents.catalog import Intent, Slot
from soulgraph.senses.intents.decision import MatchedIntent
from soulgraph.senses.intents.patterns import RegexBudget
from soulgraph.senses.intents.utterance import find_word
from soulgraph.senses.synonyms import synonym_groups
from soulgraph.senses.values.durations import duration
from soulgraph.senses.values.numbers import in_digits, number, percent
from soulgraph.senses.values.times import parse_time
from soulgraph.soul.language import Lang

Value = str | int | float

_QUESTIONS: dict[Lang, dict[str, str]] = {
    "zh": {
        "text": "“{intent}”的{slot}是什么？",
        "choice": "“{intent}”的{slot}选哪一个：{values}？",
        "number": "“{intent}”的{slot}是多少？",
        "percent": "“{intent}”的{slot}是百分之多少？",
        "duration": "“{intent}”要多久？",
        "time": "“{intent}”要定在几点？",
    },
    "en": {
        "text": 'What is the {slot} for "{intent}"?',
        "choice": 'Which {slot} for "{intent}": {values}?',
        "number": 'What number is the {slot} for "{intent}"?',
        "percent": 'What percentage is the {slot} for "{intent}"?',
        "duration": 'How long for "{intent}"?',
        "time": 'What time for "{intent}"?',
    },
}
_DAY = re.compile("(?<=[今明后])儿个?")  # 明儿个 is 明天
_PARTICLES = re.compile("[哈啊呀哦喔嘛呗吧咯喽哟]+$")
_SEPARATORS: dict[Lang, str] = {"zh": "、", "en": ", "}


def fill_slots(slots: Iterable[Slot], words: str, now: datetime, budget: RegexBudget | None = None) -> dict[str, Value]:
    """The values of the slots that these words fill; `budget` is that of their utterance."""
    budget = budget or RegexBudget()
    filled = ((slot.name, _fill(slot, words, now, budget)) for slot in slots)
    return {name: value for name, value in filled if value is not None}


def question(intent: Intent, slot: Slot, lang: Lang) -> str:
    """The question for a missing slot: the catalog's own, else one by the slot's type."""
    if slot.question:
        return slot.question
    values = _SEPARATORS[lang].join(slot.values)
    template = _QUESTIONS[lang]["choice" if values else slot.type]
    return template.format(intent=intent.name, slot=slot.name, values=values)


def match_of(intent: Intent, parameters: dict[str, Any], confidence: float, why: str, lang: Lang) -> MatchedIntent:
    """The intent with these parameters and its defaults: ready, or with the question for the first that is missing."""
    defaults = {slot.name: slot.default for slot in intent.slots if slot.default is not None}
    parameters = defaults | parameters
    missing = [slot for slot in intent.slots if slot.required and slot.name not in parameters]
    return MatchedIntent(
        intent_id=intent.id,
        intent_name=intent.name,
        confidence=confidence,
        parameters=parameters,
        status="need_clarification" if missing else "ready",
        question=question(intent, missing[0], lang) if missing else None,
        why=why,
    )


def _fill(slot: Slot, words: str, now: datetime, budget: RegexBudget) -> Value | None:
    if slot.type == "text":
        return _text(slot, words, budget)
    candidates = _captures(slot, words, budget) if slot.regex else [words]
    return next((value for text in candidates if (value := _parse(slot, text, now)) is not None), None)


def _text(slot: Slot, words: str, budget: RegexBudget) -> str | None:
    captured = next(_captures(slot, words, budget), "")
    if slot.values:
        return _named_value(slot, captured) or _named_value(slot, words)
    return _PARTICLES.sub("", captured) or None


def _parse(slot: Slot, words: str, now: datetime) -> Value | None:
    if slot.type == "time":
        return parse_time(words, now)
    value = {"number": number, "percent": percent, "duration": duration}[slot.type](words)
    return value if value is not None and slot.allows(value) else None


def _captures(slot: Slot, words: str, budget: RegexBudget) -> Iterator[str]:
    r"""What the slot's pattern captures, then its whole match: (\d+)分钟 captures no unit.

    For types other than text it is also searched with numbers in digits: (\d+)度 matches 二十六度.
    """
    for text in (words,) if slot.type == "text" else (words, in_digits(words)):
        if slot.regex and (found := budget.search(slot.regex, text)):
            yield _group(slot, found)
            yield found[0]


def _group(slot: Slot, found: regex.Match[str]) -> str:
    """The group of the slot's name, else the first group, else the whole match."""
    named = found.groupdict()
    group = named[slot.name] if slot.name in named else found[min(1, found.re.groups)]
    return (group or "").strip()


def _named_value(slot: Slot, words: str) -> str | None:
    """The value named first, spelled as the catalog spells it; of two that begin together, the longer.

    If none is named literally, one that is named in the other language.
    """
    words = _DAY.sub("天", words)
    found = [(span.start, -span.end, value) for value in slot.values for span in find_word(value, words)]
    if found:
        return min(found)[2]
    return next((value for value in slot.values if any(find_word(word, words) for word in _translations(value))), None)


@lru_cache(maxsize=1024)
def _translations(value: str) -> list[str]:
    """The words for a value in the other language."""
    groups = [group for group in synonym_groups() if value.lower() in group]
    return [word for group in groups for word in group if word.isascii() != value.isascii()]
