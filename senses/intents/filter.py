"""The intent filter: which of a terminal's intents an utterance asks for, and why.

Keywords and patterns speak first; what they leave open may resemble an example; what then is still unclear an
arbiter may decide. What is spoken against is dropped. Each clause that asks for something fills the slots of
what it asks for.
"""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from soulgraph.errors import SenseUnavailable
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.decision import IntentResult, MatchedIntent, listed
from soulgraph.senses.intents.evidence import Evidence, evidence_in, refused
from soulgraph.senses.intents.resemblance import Resemblance
from soulgraph.senses.intents.slots import question, spoken
from soulgraph.senses.intents.utterance import Utterance
from soulgraph.senses.ports import Embedder, IntentArbiter
from soulgraph.soul.language import Lang, lang_of

HIT_CONFIDENCE = 0.8
UNCLEAR = (0.35, 0.65)
ARBITER_TIMEOUT_S = 5.0


class Mention(NamedTuple):
    """An intent asked for in one clause, with the words that belong to it and the slots they fill."""

    evidence: Evidence
    words: str
    said: dict[str, Any]

    @property
    def intent(self) -> Intent:
        return self.evidence.intent

    @property
    def confidence(self) -> float:
        """A keyword is a full hit however many there are; the rest is how much of the words it explains."""
        if self.evidence.by == "like":
            return round(self.evidence.sureness, 3)
        covered = self.evidence.span.length / len(self.words.strip())
        return round(HIT_CONFIDENCE + (1 - HIT_CONFIDENCE) * min(1.0, covered), 3)


class IntentFilter:
    def __init__(self, embedder: Embedder, arbiter: IntentArbiter | None = None) -> None:
        self._resemblance = Resemblance(embedder)
        self._arbiter = arbiter

    def expect(self, text: str) -> None:
        """This will be filtered soon."""
        self._resemblance.expect(Utterance.of(text))

    async def filter(self, text: str, offers: CompiledCatalog, now: datetime) -> IntentResult:
        """`now` is the user's time: 明早七点 is resolved against it."""
        utterance = Utterance.of(text)
        if not utterance.text or not offers.catalog:
            return IntentResult.without("no_action", "nothing was said" if offers.catalog else "no intents are offered")
        named = evidence_in(utterance, offers)
        heard, problem = await self._weighed(utterance, offers, named)
        meant = [evidence for evidence in heard if not refused(evidence, utterance)]
        if not meant:
            reason = f"refused: {_ids(heard)}" if heard else "no intent matched"
            return IntentResult.without("fallback_reasoning", reason + problem)
        mentions = _distinct(_mentions(meant, utterance, now))
        sure = [m for m in mentions if m.confidence >= m.intent.match.min_confidence]
        if not sure:
            return IntentResult.without("fallback_reasoning", f"not sure enough: {_ids(meant)}{problem}")
        return IntentResult.matched([_match(mention, lang_of(utterance.text)) for mention in sure])

    async def _weighed(
        self, utterance: Utterance, offers: CompiledCatalog, named: list[Evidence]
    ) -> tuple[list[Evidence], str]:
        """The evidence in the light of the examples, and a word on it if the embedder is away."""
        try:
            weighed = await self._resemblance.weighed(utterance, offers, named)
        except SenseUnavailable:
            return named, " (examples not compared: the embeddings endpoint is away)"
        return await self._settled(utterance, weighed), ""

    async def _settled(self, utterance: Utterance, heard: list[Evidence]) -> list[Evidence]:
        """The unclear ones as the arbiter decides; without one, or when it is away, as they are."""
        unclear = [evidence for evidence in heard if UNCLEAR[0] <= evidence.sureness <= UNCLEAR[1]]
        if not self._arbiter or not unclear:
            return heard
        try:
            async with asyncio.timeout(ARBITER_TIMEOUT_S):
                chosen = await self._arbiter.decide(utterance.text, [evidence.intent for evidence in unclear])
        except (SenseUnavailable, TimeoutError):
            return heard
        confirmed = [_confirmed(evidence) for evidence in unclear if evidence.intent.id in chosen]
        return [evidence for evidence in heard if evidence not in unclear] + confirmed


def _confirmed(evidence: Evidence) -> Evidence:
    sureness = max(evidence.sureness, evidence.intent.match.min_confidence)
    return evidence._replace(sureness=sureness, what=f"{evidence.what}, confirmed by the model")


def _mentions(meant: list[Evidence], utterance: Utterance, now: datetime) -> Iterator[Mention]:
    """In the order spoken. A clause that asks for nothing belongs to the one before it."""
    asking = sorted({utterance.clause_at(evidence.span.start) for evidence in meant})
    starts = [0, *(utterance.clauses[clause].start for clause in asking[1:]), len(utterance.text)]
    for start, end in pairwise(starts):
        here = [e for e in meant if start <= e.span.start < end]
        longest_each = {e.intent.id: e for e in sorted(here, key=lambda e: e.span.length)}
        words = utterance.text[start:end]
        for evidence in sorted(longest_each.values(), key=lambda e: e.span):
            yield Mention(evidence, words, spoken(evidence.intent.slots, words, now, utterance.patience))


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
        confidence=mention.confidence,
        parameters=parameters,
        status="need_clarification" if missing else "ready",
        question=question(intent, missing[0], lang) if missing else None,
        why=mention.evidence.why,
    )


def _ids(evidence: Iterable[Evidence]) -> str:
    return listed(sorted(e.intent.id for e in evidence))
