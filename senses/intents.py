"""The keyword intent filter: which of a terminal's intents an utterance asks for.

Opposites decide first (关灯 never means 开灯), then the longest evidence wins where spans overlap, then
what is spoken against is dropped. Each clause that asks for something fills the slots of what it asks for.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from soulgraph.senses.catalog import Catalog, Intent, Match, Slot
from soulgraph.senses.opposites import first_sides, only_sides, opposed
from soulgraph.senses.refusal import is_refused
from soulgraph.senses.slots import question, spoken
from soulgraph.senses.utterance import Span, Utterance
from soulgraph.soul.language import lang_of

__all__ = [
    "Catalog",
    "Filtered",
    "Intent",
    "IntentDecision",
    "Match",
    "MatchedIntent",
    "Slot",
    "filter_intents",
]

# A hit is a hit however many keywords there are; the rest is how much of the clause it explains.
HIT_CONFIDENCE = 0.8


class IntentDecision(BaseModel):
    action: Literal["execute_intents", "fallback_reasoning", "no_action"]
    reason: str


class MatchedIntent(BaseModel):
    intent_id: str
    intent_name: str
    confidence: float
    parameters: dict[str, Any]
    status: Literal["ready", "need_clarification"]
    question: str | None = None
    why: str


class Filtered(BaseModel):
    decision: IntentDecision
    intents: list[MatchedIntent] = []


class Evidence(NamedTuple):
    """One place in the utterance that speaks for an intent."""

    intent: Intent
    span: Span
    why: str


def filter_intents(text: str, catalog: Sequence[Intent]) -> Filtered:
    utterance = Utterance.of(text)
    if not utterance.text or not catalog:
        return _without("no_action", "nothing was said" if catalog else "the terminal offers no intents")
    heard = _longest([e for intent in catalog for e in _evidence(intent, utterance)])
    meant = [evidence for evidence in heard if not is_refused(utterance, evidence.span)]
    if not meant:
        refused = ", ".join(sorted({evidence.intent.id for evidence in heard}))
        return _without("fallback_reasoning", f"refused: {refused}" if heard else "no intent matched")
    return _decided(_matches(meant, utterance))


def _evidence(intent: Intent, utterance: Utterance) -> list[Evidence]:
    """What speaks for an intent, unless a negative keyword, a missing condition or the opposite side rules it out."""
    match = intent.match
    if any(utterance.find(word) for word in match.negative_keywords):
        return []
    required = [*_keywords(intent, match.keywords_all, utterance), *_regexes(intent, match.regex_all, utterance)]
    if len({e.why for e in required}) < len({*match.keywords_all}) + len({*match.regex_all}):
        return []
    optional = [*_keywords(intent, match.keywords_any, utterance), *_regexes(intent, match.regex_any, utterance)]
    wanted = optional if match.keywords_any or match.regex_any else required
    sides = only_sides([intent.id, intent.name, *match.keywords_any, *match.keywords_all])
    return [e for e in wanted if not opposed(sides, _sides_around(e.span, utterance))]


def _keywords(intent: Intent, words: list[str], utterance: Utterance) -> Iterator[Evidence]:
    return (Evidence(intent, span, f"keyword {word!r}") for word in words for span in utterance.find(word))


def _regexes(intent: Intent, patterns: list[str], utterance: Utterance) -> Iterator[Evidence]:
    return (Evidence(intent, span, f"regex {p!r}") for p in patterns for span in utterance.search(p))


def _sides_around(span: Span, utterance: Utterance) -> Sides:
    ...
