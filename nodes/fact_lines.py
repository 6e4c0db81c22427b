"""Facts as a prompt tells them: who said it when, and until when it was so."""

from collections.abc import Iterable, Sequence

from soulgraph.memory.facts import RecalledFact
from soulgraph.nodes.transcript import Names
from soulgraph.prompts.persona import Memory
from soulgraph.prompts.quotation import speaker_name
from soulgraph.soul.language import Lang
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Fact, Message

_WORDS = {
    "en": {"told": "{name} told you on {date}: {fact}", "person": "They", "past": " (until {date})"},
    "zh": {"told": "{name}在{date}告诉过你：{fact}", "person": "对方", "past": "（到{date}为止）"},
}


def facts_in_mind(
    recalled: Iterable[RecalledFact], recent: Sequence[Message], count: int, names: Names, lang: Lang
) -> list[Memory]:
    """The best that do not stand in the conversation anyway."""
    shown = {message.message_id for message in recent}
    unshown = [one.fact for one in recalled if not one.fact.message_ids or {*one.fact.message_ids} - shown]
    return [Memory(fact.fact_id, told(fact, names, lang), -place) for place, fact in enumerate(unshown[:count])]


def told(fact: Fact, names: Names, lang: Lang) -> str:
    words = _WORDS[lang]
    name = names.get(fact.user_id)
    past = words["past"].format(date=iso(fact.valid_to)[:10]) if fact.valid_to is not None else ""
    who = speaker_name(name) if name else words["person"]
    return words["told"].format(name=who, date=iso(fact.said_at)[:10], fact=fact.content) + past
