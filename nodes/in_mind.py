"""What comes to mind, as a prompt tells it: who said what and when, and what it was about."""

from collections.abc import Iterable, Sequence

from soulgraph.memory.episodes import RecalledEpisode, passages_of, tells
from soulgraph.memory.event_source import RecalledEvent
from soulgraph.memory.facts import RecalledFact
from soulgraph.memory.summaries import RecalledSummary
from soulgraph.nodes.transcript import Names, speaker_of
from soulgraph.prompts.budget import cut
from soulgraph.prompts.persona import Memory
from soulgraph.prompts.quotation import quoted, speaker_name
from soulgraph.soul.language import Lang
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Fact, Message

_WORDS = {
    "en": {"told": "{name} told you on {date}: {fact}", "person": "They", "past": " (until {date})"},
    "zh": {"told": "{name}在{date}告诉过你：{fact}", "person": "对方", "past": "（到{date}为止）"},
}
_MAX_QUOTE = 240  # characters of a message that was found
_MAX_LINE = 140  # characters of a line around it


def episodes_in_mind(
    recalled: Sequence[RecalledEpisode], recent: Sequence[Message], count: int, names: Names, lang: Lang
) -> list[Memory]:
    """The best that the prompt does not show anyway: who said what, and when."""
    telling = [episode for episode in recalled if tells(episode)]
    passages = passages_of(telling, count, recent)
    return [
        Memory(hit.source_id, _quoted(hit.message, lines, names, lang), -place)
        for place, (hit, lines) in enumerate(passages)
    ]


def _quoted(found: Message, lines: Sequence[Message], names: Names, lang: Lang) -> str:
    """The day, and who said what: the message that was found at more length than the lines around it."""
    said = (
        f"{speaker_of(line, names, lang)} {quoted(cut(line.content, _MAX_QUOTE if line is found else _MAX_LINE))}"
        for line in lines
    )
    return f"{iso(found.created_at)[:10]}: {'; '.join(said)}"


def events_in_mind(recalled: Sequence[RecalledEvent], count: int) -> list[Memory]:
    return [Memory(one.event.event_id, one.event.summary, -place) for place, one in enumerate(recalled[:count])]


def summaries_in_mind(recalled: Sequence[RecalledSummary], shown: str | None, count: int) -> list[Memory]:
    """The best but the one that the session's background tells anyway."""
    unshown = [one for one in recalled if one.summary_id != shown][:count]
    return [
        Memory(one.summary_id, f"{iso(one.created_at)[:10]}: {one.text}", -place) for place, one in enumerate(unshown)
    ]


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
