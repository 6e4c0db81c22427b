"""Finds intents that no keyword names, by the likeness of clauses to their examples."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.catalogs import Catalogs
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.concepts import concepts_in, requests
from soulgraph.senses.intents.evidence import Evidence, excluded, names_act, refused
from soulgraph.senses.intents.examples import Likeness
from soulgraph.senses.intents.fitness import is_about_another, is_only_mentioned, is_told
from soulgraph.senses.intents.objects import names_other_object
from soulgraph.senses.intents.opposites import Sides, first_sides, opposed
from soulgraph.senses.intents.shape import TELLING, refuses, shape_of
from soulgraph.senses.intents.utterance import ParsedUtterance, Span, without_conjunctions
from soulgraph.senses.ports import Embedder

# Confidence that a clause needs; the whole utterance needs the `min_confidence` of the intent.
MIN_PART = 0.8
MIN_ONLY_PART = 0.65  # when no other clause asks for anything
MIN_ACT_PART = 0.6  # when the clause names an act
MIN_LEAD = 0.25  # by which an intent must be likelier to displace another, or to be clearly the likeliest
UNNAMED = 0.25  # of its confidence loses an intent of which nothing is named that it is about
REQUEST_ODDS = 2  # by which a request rather means the intent it is clearly most like than a remark does
MAX_CLAUSES = 8
MAX_TINY = 3  # Chinese characters: 随便, 走了 are like many things
MAX_SHORT_BYTES = 42  # thirteen Chinese characters, or some eight English words

_WORDS = re.compile(r"\w{2}")


class Resemblance:
    """Compares utterances with the examples of a catalog."""

    def __init__(self, embedder: Embedder, catalogs: Catalogs) -> None:
        self._embedder = embedder
        self._catalogs = catalogs

    def expect(self, utterance: ParsedUtterance) -> None:
        self._embedder.expect([utterance.part(span) for span in _spans(utterance)])

    async def compare(
        self, utterance: ParsedUtterance, catalog: CompiledCatalog, named: Sequence[Evidence]
    ) -> list[Evidence]:
        """The named evidence whose clause is not far more like another intent, and the evidence by likeness."""
        if not catalog.examples:
            return list(named)
        whole, *parts = await self._likenesses(utterance, catalog)
        held = [
            evidence if refused(evidence, utterance) else _surer(evidence, [whole, *parts])
            for evidence in named
            if not _contradicted(evidence, [whole, *parts], utterance)
        ]
        return [*held, *_by_likeness(utterance, catalog, held, whole, parts)]

    async def _likenesses(self, utterance: ParsedUtterance, catalog: CompiledCatalog) -> list["Part"]:
        """The whole utterance, then its clauses if it has several, each with the intents it is like."""
        spans = _spans(utterance)
        texts = [utterance.part(span) for span in spans]
        vectors = await self._embedder.embed(texts)
        examples = await self._catalogs.examples(catalog)
        return [Part(*part) for part in zip(spans, examples.likeliest(texts, vectors), strict=True)]


def _spans(utterance: ParsedUtterance) -> list[Span]:
    """The whole utterance, and of several clauses those that may ask for something."""
    whole = Span(0, len(utterance.text))
    clauses = [clause for clause in utterance.clauses if clause.length < whole.length]
    return [whole, *[clause for clause in clauses if _may_ask(utterance.part(clause))][:MAX_CLAUSES]]


def _may_ask(clause: str) -> bool:
    """Whether a clause has words beside conjunctions, and is short or names an act."""
    if not _WORDS.search(without_conjunctions(clause)):
        return False
    return len(clause.encode()) <= MAX_SHORT_BYTES or names_act(clause)


class Part(NamedTuple):
    """A span of the utterance, and the intents it is like, the likeliest first."""

    span: Span
    likely: list[Likeness]

    @property
    def best(self) -> float:
        return self.likely[0].confidence if self.likely else 0.0

    def likeness_to(self, intent: Intent) -> float:
        return next((known.confidence for known in self.likely if known.intent.id == intent.id), 0.0)

    def leads(self, intent: Intent) -> bool:
        """Whether the span is clearly less like all other intents."""
        others = [known.confidence for known in self.likely if known.intent.id != intent.id]
        return self.likeness_to(intent) >= max(others, default=0.0) + MIN_LEAD


def _surer(evidence: Evidence, parts: Sequence[Part]) -> Evidence:
    """Evidence by concepts, or that by likeness if its clause is more like the intent than that."""
    clause = _clause_of(evidence, parts)
    known = next((known for known in clause.likely if known.intent.id == evidence.intent.id), None)
    if evidence.by != "concepts" or known is None or known.confidence <= evidence.confidence:
        return evidence
    return evidence._replace(by="like", what=f"“{known.example.text}”", confidence=known.confidence)


def _clause_of(evidence: Evidence, parts: Sequence[Part]) -> Part:
    return next(part for part in reversed(parts) if part.span.start <= evidence.span.start < part.span.end)


def _contradicted(evidence: Evidence, parts: Sequence[Part], utterance: ParsedUtterance) -> bool:
    """Whether the clause of a match is far more like another intent: 扫地机回去充电 names 扫地 but does not mean it."""
    if evidence.by == "concepts" or not evidence.intent.match.examples or refused(evidence, utterance):
        return False
    clause = _clause_of(evidence, parts)
    return clause.best - clause.likeness_to(evidence.intent) >= MIN_LEAD


def _by_likeness(
    utterance: ParsedUtterance, catalog: CompiledCatalog, held: Sequence[Evidence], whole: Part, parts: Sequence[Part]
) -> list[Evidence]:
    """Evidence by likeness in clauses without a match; the whole utterance counts only if nothing matched."""
    taken = {utterance.clause_at(evidence.span.start) for evidence in held}
    likely = [part for part in parts if part.best >= MIN_ACT_PART]
    free = [part for part in likely if utterance.clause_at(part.span.start) not in taken]
    alike = [found for part in free if (found := _first_possible(part, utterance, catalog))]
    sure = {found.intent.id: found for found in alike if found.confidence >= _min_confidence(found.span, utterance)}
    if held:
        return list(sure.values())
    all_of_it = _first_possible(whole, utterance, catalog)
    if len(sure) > 1 and (not all_of_it or all_of_it.intent.id in sure or not _is_confident(all_of_it)):
        return list(sure.values())
    if all_of_it and _is_confident(all_of_it):
        return [all_of_it]
    return _most_confident(alike) or [*filter(None, [all_of_it])]


def _most_confident(alike: list[Evidence]) -> list[Evidence]:
    enough = [found for found in alike if found.confidence >= MIN_ONLY_PART]
    return sorted(enough, key=lambda found: -found.confidence)[:1]


def _min_confidence(span: Span, utterance: ParsedUtterance) -> float:
    return MIN_ACT_PART if names_act(utterance.part(span)) else MIN_PART


def _first_possible(part: Part, utterance: ParsedUtterance, catalog: CompiledCatalog) -> Evidence | None:
    """The likeliest intent that is possible, unless its opposite is about as likely.

    Impossible are excluded intents, and those of the opposite side, of another object or of another shape.
    """
    named_sides = first_sides([utterance.sides_within(part.span)])
    for known in part.likely:
        if opposed(catalog.sides(known.intent), named_sides) or not _is_possible(known, part.span, utterance, catalog):
            continue
        if _opposite_as_likely(known, part, named_sides, catalog):
            return None
        if known.confidence < MIN_ONLY_PART and len(utterance.text) <= MAX_TINY and not utterance.text.isascii():
            return None
        confidence = known.confidence * (1 - UNNAMED * _unnamed_share(known.intent, utterance, part.span, catalog))
        if requests(utterance.part(part.span)) and part.leads(known.intent):
            confidence /= confidence + (1 - confidence) / REQUEST_ODDS
        return Evidence(known.intent, part.span, "like", f"“{known.example.text}”", confidence)
    return None


def _unnamed_share(intent: Intent, utterance: ParsedUtterance, span: Span, catalog: CompiledCatalog) -> float:
    """How much of what the intent is about is not named, up to the end of the span."""
    profile = catalog.profile(intent)
    if not profile.subjects:
        return 0.0
    return len(profile.core - concepts_in(utterance.text[: span.end])) / len(profile.core)


def _is_possible(known: Likeness, span: Span, utterance: ParsedUtterance, catalog: CompiledCatalog) -> bool:
    intent = known.intent
    shape = shape_of([utterance.part(clause) for clause in utterance.clauses if clause.overlaps(span)])
    if known.example.refuses != refuses(shape) or (shape - TELLING) - catalog.shapes(intent) - {"prohibition"}:
        return False
    if excluded(intent, utterance) or names_other_object(utterance.part(span), catalog.description(intent)):
        return False
    if is_only_mentioned(intent, span, utterance, catalog):
        return False
    clauses = [clause for clause in utterance.clauses if clause.overlaps(span)]
    return not any(is_about_another(intent, clause, utterance, catalog) for clause in clauses) and not is_told(
        intent, span, utterance, catalog
    )


def _opposite_as_likely(known: Likeness, part: Part, named_sides: Sides, catalog: CompiledCatalog) -> bool:
    """Whether an opposite intent is about as likely and no named side rules it out: on and off have close vectors."""
    return any(
        opposed(catalog.sides(known.intent), catalog.sides(other.intent))
        and not opposed(catalog.sides(other.intent), named_sides)
        and other.example.refuses == known.example.refuses
        and other.confidence > known.confidence - MIN_LEAD
        for other in part.likely
    )


def _is_confident(evidence: Evidence) -> bool:
    return evidence.confidence >= evidence.intent.match.min_confidence
