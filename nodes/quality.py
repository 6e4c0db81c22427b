"""What a soul may keep of what a model has written: gates against copies, inventions and small talk.

Each refusal has a reason that telemetry tells; what was refused is never quoted.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from soulgraph.nodes.context import Telemetry
from soulgraph.senses.facts.admission import instructs
from soulgraph.senses.grounding import (
    copied_share,
    details_known,
    fold,
    grounded,
    is_small_talk,
    nearest_statement,
    restates,
    sentences_of,
    tells_of_somebody,
)
from soulgraph.senses.planted import Sources, planted
from soulgraph.senses.tokenizer import terms_of
from soulgraph.soul.own_words import borrowed_words, own_statements
from soulgraph.stores.records import Slot as KeptSlot
from soulgraph.voices.task_outputs import Slot

Kind = Literal["slot", "monologue", "fact", "event", "proactive", "profile", "note", "bond", "promise", "persona"]
Reason = Literal[
    "small_talk",
    "known_already",
    "not_said",
    "copied",
    "unchanged",
    "repeats_itself",
    "speaks_to_itself",
    "not_its_own_voice",
    "not_for_everybody",
    "switched_off",
    "instruction",
    "planted",
]

_INTERPRETED = range(20, 40)
"""Slots for feelings and growth: what the soul makes of what it heard need not be in the same words."""
_GROWTH = range(30, 40)
_FIRST_PERSON = re.compile(r"我|\b(?:I|my|mine|me)\b", re.IGNORECASE)
_SOMEBODY = re.compile(
    r"[他她你]|对方|用户|人家|\b(?:he|him|his|she|hers?|they|them|theirs?|you|yours?|user|visitor)\b",
    re.IGNORECASE,
)
_ATTRIBUTED = re.compile(r"(?:说过?|said|says|told [^:]{1,20})\s*[:：,，]", re.IGNORECASE)
_OWN_LINE = re.compile(r"你说\s*[:：]|\byou said\b\s*:", re.IGNORECASE)
_MOSTLY = 0.5


class Heard(NamedTuple):
    """What a note is held against: what the user said, who they are, and what the soul knows of itself.

    `said` is in their own voice; what they quoted or read aloud is among `strangers`.
    """

    said: Sequence[str]
    names: Sequence[str]
    own: Sequence[str]
    speaker: str
    """In words, like "Lin said"."""
    strangers: Sequence[str] = ()
    replies: Sequence[str] = ()
    """The soul's."""

    def is_planted(self, thought: str) -> bool:
        return planted(thought, Sources([*self.said, *self.own], self.strangers, self.replies, self.names))

    def is_claimed(self, note: str) -> bool:
        """The same for what is kept about the person: nothing of it is the soul's to say."""
        return planted(note, Sources(self.said, [*self.strangers, *self.replies], names=self.names))


def report_refusals(telemetry: Telemetry, kind: Kind, reasons: Iterable[Reason], **ids: Any) -> None:
    for reason in reasons:
        telemetry.emit("memory.refused", kind=kind, reason=reason, **ids)


def keep_slots(
    slots: Iterable[Slot], kept: Sequence[KeptSlot], heard: Heard, quoting: bool = False
) -> tuple[list[Slot], list[Reason]]:
    """The slots worth writing, and why others are not. The user's "I" is told as theirs.

    `quoting`: the model's choice is taken and the user's own sentence kept, because its wording cannot be trusted.
    """
    good: list[Slot] = []
    reasons: list[Reason] = []
    for slot in (_quoted(slot, heard) for slot in slots) if quoting else slots:
        others = [*(one.content for one in kept if one.n != slot.n), *(one.content for one in good)]
        same = [one.content for one in kept if one.n == slot.n]
        if reason := _slot_flaw(slot, others, same, heard):
            reasons.append(reason)
        else:
            good.append(slot.model_copy(update={"content": _attributed(slot, heard.speaker)}))
    return good, reasons


def _quoted(slot: Slot, heard: Heard) -> Slot:
    """The slot with the user's own words for it; without any if they said no such thing, or it only interprets."""
    statement = "" if slot.n in _INTERPRETED else nearest_statement(slot.content, heard.said)
    kept = f"{heard.speaker}: {statement}" if statement and tells_of_somebody(statement) else ""
    return slot.model_copy(update={"content": kept})


def _slot_flaw(slot: Slot, others: Sequence[str], same: Sequence[str], heard: Heard) -> Reason | None:
    """A slot that is written anew may be a correction: only the same words are refused there."""
    text = slot.content
    if not text:
        return "not_said"
    if heard.is_claimed(text):
        return "planted"
    if _OWN_LINE.search(text) or len(_ATTRIBUTED.findall(text)) > 1:
        return "copied"
    if is_small_talk(_without_names(text, heard.names)):
        return "small_talk"
    if restates(text, [*others, *heard.own]) or fold(text) in map(fold, same):
        return "known_already"
    if slot.n in _INTERPRETED:
        known = [*heard.said, *heard.names, *heard.own]
        return None if details_known(text, known) else "not_said"
    return None if grounded(text, heard.said, heard.names) else "not_said"


def _without_names(text: str, names: Sequence[str]) -> str:
    """Who said it is no content: "Lin said: I am tired" is as much small talk as "I am tired"."""
    for name in names:
        text = re.sub(rf"{re.escape(name)}(?:说过?)?", " ", text)
    return text


def _attributed(slot: Slot, speaker: str) -> str:
    """A sentence in the first person with its speaker: in the soul's memory "I" would be the soul."""
    text = slot.content
    if slot.n in _GROWTH or _ATTRIBUTED.search(text) or not _FIRST_PERSON.search(text):
        return text
    return f"{speaker}: {text}"


def keep_monologue(new: str, old: str, heard: Heard) -> tuple[str, Reason | None]:
    """The new monologue without the user's "I" in it; the old one and the reason if it is no thought.

    It is none if it says nothing new, speaks of the soul as of somebody else, or if most of it is copied from the user
    or from the persona.
    """
    fresh = [sentence for sentence in sentences_of(new) if not restates(sentence, [old])]
    if not fresh:
        return old, "unchanged"
    if any(map(heard.is_planted, fresh)):
        return old, "planted"
    sources = [*heard.said, *heard.strangers, *heard.own]
    copied = [sentence for sentence in fresh if copied_share(sentence, sources) >= _MOSTLY]
    if sum(map(len, copied)) >= _MOSTLY * sum(map(len, fresh)):
        return old, "copied"
    if not _FIRST_PERSON.search(new):
        return old, "not_its_own_voice"
    if len(set(map(fold, fresh))) < len(fresh):
        return old, "repeats_itself"
    # What the soul retells of them is a thought; what it says of itself in their words is a mistake.
    return _without_sentences(new, filter(_FIRST_PERSON.search, copied)), None


def is_about_itself(text: str, told: Iterable[str], names: Iterable[str], own: Iterable[str]) -> bool:
    """Whether anybody may hear a thought: it is about nobody, and no word of it comes from what a person has told.

    Words that the soul has always used for itself do not count.
    """
    if _SOMEBODY.search(text) or any(_names(text, name) for name in names):
        return False
    borrowed = _all_terms([text]) & _all_terms(told)
    return borrowed <= _all_terms(own)


def _names(text: str, name: str) -> bool:
    """Whether a name is in the text: in Chinese anywhere, because there words have no bounds."""
    found = re.escape(name.strip().casefold())
    pattern = rf"(?<![a-z0-9]){found}(?![a-z0-9])" if name.isascii() else found
    return bool(found) and re.search(pattern, text.casefold()) is not None


def _all_terms(texts: Iterable[str]) -> set[str]:
    """Also those of a text that is too long to be searched for as a whole; the pieces overlap by a long word."""
    return {term for text in texts for n in range(0, len(text), 300) for term in terms_of(text[n : n + 360])}


def _without_sentences(text: str, sentences: Iterable[str]) -> str:
    for sentence in sentences:
        text = text.replace(sentence, "")
    return text.strip()


def keep_bond(new: str, old: str, heard: Heard) -> tuple[str, Reason | None]:
    """What the two are to each other from now on."""
    return (old, "planted") if new and heard.is_claimed(new) else (new, None)


def without_planted(texts: Mapping[str, str], sources: Sources) -> tuple[dict[str, str], list[Reason]]:
    """What a model has written about a conversation, without the sentences that were planted in it."""
    refused = [one for text in texts.values() for one in sentences_of(text) if planted(one, sources)]
    return {name: _without_sentences(text, refused) for name, text in texts.items()}, ["planted" for _ in refused]


def fact_flaw(
    fact: str, kept: Iterable[str], said: Sequence[str], names: Sequence[str], strangers: Sequence[str] = ()
) -> Reason | None:
    """Why a fact that the model wants to remember is not kept. `said` is in the person's own voice."""
    if planted(fact, Sources(said, strangers, names=names)):
        return "planted"
    if is_small_talk(fact):
        return "small_talk"
    if restates(fact, kept):
        return "known_already"
    return None if grounded(fact, said, names) else "not_said"


def drawn_fact_flaw(
    fact: str, kept: Iterable[str], evidence: str, said: Sequence[str], names: Sequence[str]
) -> Reason | None:
    """Why a fact that a model has drawn is not kept. `evidence` is the message it names, `said` all of the person's."""
    own = [own_statements(text) for text in said]
    strangers = [words for text in said for words in borrowed_words(text)]
    evidence = own_statements(evidence)
    if instructs(fact) or instructs(evidence):
        return "instruction"
    if _FIRST_PERSON.search(fact):
        return "not_its_own_voice"
    if flaw := fact_flaw(_without_names(fact, names), kept, own, names, strangers):
        return flaw
    return None if nearest_statement(fact, [evidence]) else "not_said"


def addresses(text: str, name: str) -> bool:
    """Whether a text begins by calling somebody by this name."""
    return bool(name) and re.match(rf"\W*{re.escape(name)}\s*[,，!！、:：]", text) is not None


def repeats(text: str, spoken: Iterable[str]) -> bool:
    """Whether a text says again what was said or thought: every sentence of it is in one of these texts."""
    spoken = list(spoken)
    return restates(text, spoken) or all(restates(sentence, spoken) for sentence in sentences_of(text))
