"""The intent filter: finds which of a terminal's intents an utterance asks for, and why.

Keywords and patterns are matched first; other clauses are compared with the examples; an arbiter may decide unclear
cases. Refused intents are dropped. Each clause that asks for an intent fills the slots of that intent.
"""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Any, NamedTuple

from soulgraph.errors import SenseUnavailable
from soulgraph.senses.intents.answers import answer_to
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.catalogs import Catalogs
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.decision import IntentResult, MatchedIntent, join_ids
from soulgraph.senses.intents.evidence import Evidence, evidence_in, refused
from soulgraph.senses.intents.resemblance import Resemblance
from soulgraph.senses.intents.slots import fill_slots, match_of
from soulgraph.senses.intents.utterance import ParsedUtterance
from soulgraph.senses.ports import Embedder, IntentArbiter
from soulgraph.soul.language import Lang, lang_of

HIT_CONFIDENCE = 0.8
UNCLEAR = (0.35, 0.65)  # confidences between which the arbiter decides
ARBITER_TIMEOUT_S = 5.0


class Mention(NamedTuple):
    """An intent asked for in one clause, with the words that belong to it and the slots they fill."""

    evidence: Evidence
    words: str
    slots: dict[str, Any]

    @property
    def intent(self) -> Intent:
        return self.evidence.intent

    @property
    def confidence(self) -> float:
        """That of the evidence; for a keyword or pattern high, and higher the more of the words it covers."""
        if self.evidence.by in ("concepts", "like"):
            return round(self.evidence.confidence, 3)
        covered = self.evidence.span.length / len(self.words.strip())
        return round(HIT_CONFIDENCE + (1 - HIT_CONFIDENCE) * min(1.0, covered), 3)


class IntentFilter:
    def __init__(self, embedder: Embedder, arbiter: IntentArbiter | None = None) -> None:
        self.catalogs = Catalogs(embedder)
        self._resemblance = Resemblance(embedder, self.catalogs)
        self._arbiter = arbiter

    def expect(self, text: str) -> None:
        """Announces a text that will be filtered soon, so that it is embedded early."""
        self._resemblance.expect(ParsedUtterance.of(text))

    async def filter(
        self,
        text: str,
        catalog: CompiledCatalog,
        now: datetime,
        asked: Sequence[MatchedIntent] = (),
        lang: Lang | None = None,
        learning_timeout_s: float | None = None,
    ) -> IntentResult:
        """The intents a text asks for; `now` is the user's time, against which 明早七点 is resolved.

        `asked` are intents whose missing slots the user was just asked for: the text may be the answer. Questions for
        missing parameters are in `lang`, by default the language of the text. If the examples are not learned after
        `learning_timeout_s`, the text is not compared with them.
        """
        utterance = ParsedUtterance.of(text)
        if not utterance.text or not catalog.intents:
            return IntentResult.without(
                "no_action", "nothing was said" if catalog.intents else "no intents are offered"
            )
        if asked and (answer := answer_to(asked, utterance, catalog, now)):
            return answer
        named = evidence_in(utterance, catalog)
        found, problem = await self._compare_with_examples(utterance, catalog, named, learning_timeout_s)
        accepted = [evidence for evidence in found if not refused(evidence, utterance)]
        if not accepted:
            reason = f"refused: {_ids(found)}" if found else "no intent matched"
            return IntentResult.without("fallback_reasoning", reason + problem)
        mentions = _distinct(_mentions(accepted, utterance, now))
        sure = [m for m in mentions if m.confidence >= m.intent.match.min_confidence]
        if not sure:
            return IntentResult.without("fallback_reasoning", f"not sure enough: {_ids(accepted)}{problem}")
        lang = lang or lang_of(utterance.text)
        return IntentResult.matched([match_of(m.intent, m.slots, m.confidence, m.evidence.why, lang) for m in sure])

    async def _compare_with_examples(
        self, utterance: ParsedUtterance, catalog: CompiledCatalog, named: list[Evidence], timeout_s: float | None
    ) -> tuple[list[Evidence], str]:
        """The evidence after comparison with the examples, and a remark for the reason if that was not possible."""
        try:
            if timeout_s is not None and not await self.catalogs.learned_within(catalog, timeout_s):
                return named, " (examples not compared: the catalog is still being compiled)"
            compared = await self._resemblance.compare(utterance, catalog, named)
        except SenseUnavailable:
            return named, " (examples not compared: the embeddings endpoint is away)"
        return await self._arbitrate(utterance, compared), ""

    async def _arbitrate(self, utterance: ParsedUtterance, found: list[Evidence]) -> list[Evidence]:
        """The evidence with unclear cases decided by the arbiter; unchanged without one or when it fails."""
        unclear = [evidence for evidence in found if UNCLEAR[0] <= evidence.confidence <= UNCLEAR[1]]
        if not self._arbiter or not unclear:
            return found
        try:
            async with asyncio.timeout(ARBITER_TIMEOUT_S):
                chosen = await self._arbiter.decide(utterance.text, [evidence.intent for evidence in unclear])
        except (SenseUnavailable, TimeoutError):
            return found
        confirmed = [_confirmed(evidence) for evidence in unclear if evidence.intent.id in chosen]
        return [evidence for evidence in found if evidence not in unclear] + confirmed


def _confirmed(evidence: Evidence) -> Evidence:
    confidence = max(evidence.confidence, evidence.intent.match.min_confidence)
    return evidence._replace(confidence=confidence, what=f"{evidence.what}, confirmed by the model")


def _mentions(accepted: list[Evidence], utterance: ParsedUtterance, now: datetime) -> Iterator[Mention]:
    """The mentions in the order of the text. A clause that asks for nothing belongs to the one before it."""
    asking = sorted({utterance.clause_at(evidence.span.start) for evidence in accepted})
    starts = [0, *(utterance.clauses[clause].start for clause in asking[1:]), len(utterance.text)]
    for start, end in pairwise(starts):
        here = [e for e in accepted if start <= e.span.start < end]
        longest_each = {e.intent.id: e for e in sorted(here, key=lambda e: e.span.length)}
        words = utterance.text[start:end]
        for evidence in sorted(longest_each.values(), key=lambda e: e.span):
            yield Mention(evidence, words, fill_slots(evidence.intent.slots, words, now, utterance.budget))


def _distinct(mentions: Iterable[Mention]) -> list[Mention]:
    """Keeps a second mention of an intent only if its slots differ: 开客厅的灯和卧室的灯."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: not m.slots):
        same = [k for k in kept if k.intent.id == mention.intent.id]
        if not same or (mention.slots and all(k.slots != mention.slots for k in same)):
            kept.append(mention)
    return sorted(kept, key=lambda m: m.evidence.span)


def _ids(evidence: Iterable[Evidence]) -> str:
    return join_ids(sorted(e.intent.id for e in evidence))
