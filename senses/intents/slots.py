"""Filling the slots of an intent from the words that belong to it, and asking for what is missing."""

from collections.abc import Iterable

from soulgraph.senses.intents.catalog import Intent, Slot
from soulgraph.senses.intents.patterns import REACH, compiled
from soulgraph.senses.intents.utterance import find_word
from soulgraph.soul.language import Lang

_QUESTIONS: dict[Lang, tuple[str, str]] = {
    "zh": ("“{intent}”的{slot}是什么？", "“{intent}”的{slot}选哪一个：{values}？"),
    "en": ('What is the {slot} for "{intent}"?', 'Which {slot} for "{intent}": {values}?'),
}
_SEPARATORS: dict[Lang, str] = {"zh": "、", "en": ", "}


def spoken(slots: Iterable[Slot], words: str) -> dict[str, str]:
    """The slots these words fill."""
    filled = ((slot.name, _captured(slot, words) or _listed(slot, words)) for slot in slots)
    return {name: value for name, value in filled if value is not None}


def question(intent: Intent, slot: Slot, lang: Lang) -> str:
    open_question, choice = _QUESTIONS[lang]
    values = _SEPARATORS[lang].join(slot.values)
    return (choice if values else open_question).format(intent=intent.name, slot=slot.name, values=values)


def _captured(slot: Slot, words: str) -> str | None:
    """What the slot's pattern captures: its group of that name, else its first group, else all of it."""
    found = compiled(slot.regex).search(words[:REACH]) if slot.regex else None
    if not found:
        return None
    named = found.groupdict()
    group = named[slot.name] if slot.name in named else found[min(1, found.re.groups)]
    value = group.strip() if group else None
    return value if value is None or not slot.values else _listed(slot, value)


def _listed(slot: Slot, words: str) -> str | None:
    """The value named first, spelled as the catalog spells it; of two that begin together, the longer."""
    found = [(span.start, -span.end, value) for value in slot.values for span in find_word(value, words)]
    return min(found)[2] if found else None
