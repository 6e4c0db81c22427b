"""The keyword intent filter: which of a terminal's intents an utterance asks for.

Opposites decide first (关灯 never means 开灯), then the longest evidence wins where spans overlap, then
what is spoken against is dropped. Each clause that asks for something fills the slots of what it asks for.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel

from soulgraph.senses.intents.catalog import Catalog, Intent, Match, Slot
from soulgraph.senses.intents.opposites import Sides, first_sides, only_sides, opposed
from soulgraph.senses.intents.refusal import is_refused
from soulgraph.senses.intents.slots import question, spoken
from soulgraph.senses.intents.utterance import Span, Utterance
from soulgraph.soul.language import Lang, lang_of

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

HIT_CONFIDENCE = 0.8


Action = Literal["execute_intents", "fallback_reasoning", "no_action"]


class IntentDecision(BaseModel):
    action: Action
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


class Mention(NamedTuple):
    """An intent asked for in one clause, with the words that belong to it and the slots they fill."""

    evidence: Evidence
    words: str
    said: dict[str, str]

    @property
    def intent(self) -> Intent:
        return self.evidence.intent


def filter_intents(text: str, catalog: Sequence[Intent]) -> Filtered:
    utterance = Utterance.of(text)
    if not utterance.text or not catalog:
        return _without("no_action", "nothing was said" if catalog else "the terminal offers no intents")
    heard = _longest([evidence for intent in catalog for evidence in _evidence(intent, utterance)])
    meant = [evidence for evidence in heard if not is_refused(utterance, evidence.span)]
    if not meant:
        return _without("fallback_reasoning", f"refused: {_ids(heard)}" if heard else "no intent matched")
    mentions = _distinct(_mentions(meant, utterance))
    sure = [m for m in mentions if _confidence(m) >= m.intent.match.min_confidence]
    if not sure:
        return _without("fallback_reasoning", f"not sure enough: {_ids(meant)}")
    return _decided([_match(mention, lang_of(utterance.text)) for mention in sure])


def _evidence(intent: Intent, utterance: Utterance) -> list[Evidence]:
    """What speaks for an intent; nothing does when a condition fails or the opposite side was named."""
    match = intent.match
    if any(utterance.find(word) for word in match.negative_keywords):
        return []
    required = list(_found(intent, match.keywords_all, match.regex_all, utterance))
    if not all(any(not is_refused(utterance, e.span) for e in found) for found in required):
        return []
    alternatives = match.keywords_any or match.regex_any
    found = _found(intent, match.keywords_any, match.regex_any, utterance) if alternatives else required
    return [evidence for places in found for evidence in places]


def _found(intent: Intent, keywords: list[str], patterns: list[str], utterance: Utterance) -> Iterator[list[Evidence]]:
    """For each keyword and pattern the places where it stands, on a side that is not the intent's opposite."""
    for keyword in keywords:
        yield _agreeing([Evidence(intent, s, f"keyword {keyword}") for s in utterance.find(keyword)], utterance)
    for pattern in patterns:
        yield _agreeing([Evidence(intent, s, f"regex {pattern}") for s in utterance.search(pattern)], utterance)


def _agreeing(found: list[Evidence], utterance: Utterance) -> list[Evidence]:
    if not found:
        return []
    wanted = sides_of(found[0].intent)
    return [evidence for evidence in found if not opposed(wanted, _sides_at(evidence.span, utterance))]


def _sides_at(span: Span, utterance: Utterance) -> Sides:
    """Named by the evidence itself, else by its clause, else by the nearest clause before, else after it."""
    clauses = [utterance.part(clause) for clause in utterance.clauses]
    at = utterance.clause_at(span.start)
    return first_sides([utterance.part(span), *clauses[at::-1], *clauses[at + 1 :]])


def sides_of(intent: Intent) -> Sides:
    return only_sides([intent.id, intent.name, *intent.match.keywords_any, *intent.match.keywords_all])


def _longest(evidence: list[Evidence]) -> list[Evidence]:
    """Where intents claim the same words, the longer claim wins, then the higher priority, then the catalog's order."""
    kept: list[Evidence] = []
    for claim in sorted(evidence, key=lambda e: (-e.span.length, -e.intent.priority)):
        if not any(claim.span.overlaps(k.span) and claim.intent.id != k.intent.id for k in kept):
            kept.append(claim)
    return kept


def _mentions(meant: list[Evidence], utterance: Utterance) -> Iterator[Mention]:
    """In the order spoken. A clause that asks for nothing belongs to the one before it."""
    asking = sorted({utterance.clause_at(evidence.span.start) for evidence in meant})
    starts = [0, *(utterance.clauses[clause].start for clause in asking[1:]), len(utterance.text)]
    for start, end in pairwise(starts):
        here = [e for e in meant if start <= e.span.start < end]
        longest_each = {e.intent.id: e for e in sorted(here, key=lambda e: e.span.length)}
        words = utterance.text[start:end]
        for evidence in sorted(longest_each.values(), key=lambda e: e.span):
            yield Mention(evidence, words, spoken(evidence.intent.slots, words))


def _distinct(mentions: Iterable[Mention]) -> list[Mention]:
    """An intent asked for twice counts twice only when the slots say so: 开客厅的灯和卧室的灯."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: not m.said):
        same = [k for k in kept if k.intent.id == mention.intent.id]
        if not same or (mention.said and all(k.said != mention.said for k in same)):
            kept.append(mention)
    return sorted(kept, key=lambda m: m.evidence.span)


def _match(mention: Mention, lang: Lang) -> MatchedIntent:
    intent = mention.intent
    defaults = {slot.name: slot.default for slot in intent.slots if slot.default is not None}
    parameters = defaults | mention.said
    missing = [slot for slot in intent.slots if slot.required and slot.name not in parameters]
    return MatchedIntent(
        intent_id=intent.id,
        intent_name=intent.name,
        confidence=_confidence(mention),
        parameters=parameters,
        status="need_clarification" if missing else "ready",
        question=question(intent, missing[0], lang) if missing else None,
        why=mention.evidence.why,
    )


def _confidence(mention: Mention) -> float:
    """A hit is a full hit however many keywords there are; the rest is how much of the words it explains."""
    covered = mention.evidence.span.length / len(mention.words.strip())
    return round(HIT_CONFIDENCE + (1 - HIT_CONFIDENCE) * min(1.0, covered), 3)


def _decided(matches: list[MatchedIntent]) -> Filtered:
    ids = ", ".join(match.intent_id for match in matches)
    if any(match.status == "ready" for match in matches):
        return Filtered(decision=IntentDecision(action="execute_intents", reason=f"matched: {ids}"), intents=matches)
    return Filtered(
        decision=IntentDecision(action="fallback_reasoning", reason=f"to be clarified: {ids}"), intents=matches
    )


def _without(action: Action, reason: str) -> Filtered:
    return Filtered(decision=IntentDecision(action=action, reason=reason))


def _ids(evidence: list[Evidence]) -> str:
    return ", ".join(sorted({e.intent.id for e in evidence}))
