"""Intents that no keyword names, found by how much a clause resembles their examples."""

import asyncio
import re
from collections.abc import Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.evidence import Evidence, excluded, names_act, refused
from soulgraph.senses.intents.examples import Examples, Likeness
from soulgraph.senses.intents.objects import about_another
from soulgraph.senses.intents.opposites import Sides, first_sides, opposed
from soulgraph.senses.intents.shape import refuses, shape_of
from soulgraph.senses.intents.utterance import Span, Utterance, bare
from soulgraph.senses.ports import Embedder, Vectors

SURE = 0.8  # for a part of what was said; all of it needs just what the intent asks for
SURE_ALONE = 0.65  # for a part beside which nothing else asks
SURE_OF_AN_ACT = 0.6  # for a part that names something to be done
OUTDONE_BY = 0.25
MAX_CLAUSES = 8
AT_ONCE = 32
SHORT = 42  # bytes: thirteen Chinese characters, or some eight English words

_WORDS = re.compile(r"\w{2}")


class Resemblance:
    """Learns each catalog's examples once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._learning = asyncio.Lock()
        self._learned: WeakKeyDictionary[CompiledCatalog, Examples] = WeakKeyDictionary()

    def expect(self, utterance: Utterance) -> None:
        self._embedder.expect([utterance.part(span) for span in _spans(utterance)])

    async def weighed(self, utterance: Utterance, offers: CompiledCatalog, named: Sequence[Evidence]) -> list[Evidence]:
        """What was named, unless its clause is far more like something else; and what only resembles an example."""
        if not offers.examples:
            return list(named)
        whole, *parts = await self._likenesses(utterance, offers)
        held = [evidence for evidence in named if not _outdone(evidence, [whole, *parts], utterance)]
        return [*held, *_unnamed(utterance, offers, held, whole, parts)]

    async def _likenesses(self, utterance: Utterance, offers: CompiledCatalog) -> list["Part"]:
        """The whole of what was said, then its clauses if it has several, each with what it resembles."""
        spans = _spans(utterance)
        texts = [utterance.part(span) for span in spans]
        vectors, examples = await self._embedder.embed(texts), await self._examples(offers)
        return [Part(*part) for part in zip(spans, examples.likeliest(texts, vectors), strict=True)]

    async def _examples(self, offers: CompiledCatalog) -> Examples:
        if offers in self._learned:
            return self._learned[offers]
        async with self._learning:
            if offers not in self._learned:
                vectors = await self._embedded([example.text for example in offers.examples])
                self._learned[offers] = await asyncio.to_thread(Examples, offers.examples, vectors)
        return self._learned[offers]

    async def _embedded(self, texts: list[str]) -> Vectors:
        """Little by little, so that a large catalog does not keep what people say waiting."""
        parts = [texts[i : i + AT_ONCE] for i in range(0, len(texts), AT_ONCE)]
        return np.concatenate([await self._embedder.embed(part) for part in parts])


def _spans(utterance: Utterance) -> list[Span]:
    """All of it, and of several clauses those that may ask for something themselves."""
    whole = Span(0, len(utterance.text))
    clauses = [clause for clause in utterance.clauses if clause.length < whole.length]
    return [whole, *[clause for clause in clauses if _may_ask(utterance.part(clause))][:MAX_CLAUSES]]


def _may_ask(clause: str) -> bool:
    """It is more than what joins others (然后 alone asks for nothing), and short, or names an act."""
    return bool(_WORDS.search(bare(clause))) and (len(clause.encode()) <= SHORT or names_act(clause))


class Part(NamedTuple):
    """A stretch of what was said, and the intents it resembles, the likeliest first."""

    span: Span
    likely: list[Likeness]

    @property
    def best(self) -> float:
        return self.likely[0].confidence if self.likely else 0.0

    def likeness_to(self, intent: Intent) -> float:
        return next((known.confidence for known in self.likely if known.intent.id == intent.id), 0.0)


def _outdone(evidence: Evidence, parts: Sequence[Part], utterance: Utterance) -> bool:
    """An intent that gives examples is held against them: 扫地 is named in 扫地机回去充电, but not meant."""
    if not evidence.intent.match.examples or refused(evidence, utterance):
        return False
    clause = next(part for part in reversed(parts) if part.span.start <= evidence.span.start < part.span.end)
    return clause.best - clause.likeness_to(evidence.intent) >= OUTDONE_BY


def _unnamed(
    utterance: Utterance, offers: CompiledCatalog, held: Sequence[Evidence], whole: Part, parts: Sequence[Part]
) -> list[Evidence]:
    taken = {utterance.clause_at(evidence.span.start) for evidence in held}
    likely = [part for part in parts if part.best >= SURE_OF_AN_ACT]
    free = [part for part in likely if utterance.clause_at(part.span.start) not in taken]
    alike = [found for part in free if (found := _first_possible(part, utterance, offers))]
    sure = {found.intent.id: found for found in alike if found.sureness >= _needed(found.span, utterance)}
    if held:
        return list(sure.values())
    all_of_it = _first_possible(whole, utterance, offers)
    if len(sure) > 1 and (not all_of_it or all_of_it.intent.id in sure or not _meant(all_of_it)):
        return list(sure.values())
    if all_of_it and _meant(all_of_it):
        return [all_of_it]
    return _surest(alike) or [*filter(None, [all_of_it])]


def _surest(alike: list[Evidence]) -> list[Evidence]:
    return [found for found in sorted(alike, key=lambda found: -found.sureness) if found.sureness >= SURE_ALONE][:1]


def _needed(span: Span, utterance: Utterance) -> float:
    return SURE_OF_AN_ACT if names_act(utterance.part(span)) else SURE


def _first_possible(part: Part, utterance: Utterance, offers: CompiledCatalog) -> Evidence | None:
    """The likeliest intent that is not excluded, not the opposite of what is said, and asked for in this shape."""
    said = first_sides([utterance.sides_within(part.span)])
    shape = shape_of([utterance.part(clause) for clause in utterance.clauses if clause.overlaps(part.span)])
    for known in part.likely:
        possible = not excluded(known.intent, utterance) and not opposed(offers.sides(known.intent), said)
        possible = possible and not about_another(utterance.part(part.span), offers.words(known.intent))
        if possible and shape in offers.shapes(known.intent) and known.example.refuses == refuses(shape):
            if _undecided(known, part, said, offers):
                return None
            return Evidence(known.intent, part.span, "like", f"“{known.example.text}”", known.confidence)
    return None


def _undecided(known: Likeness, part: Part, said: Sides, offers: CompiledCatalog) -> bool:
    """Whether its opposite is about as likely, and nothing that was said speaks against that: on and off look alike."""
    return any(
        opposed(offers.sides(known.intent), offers.sides(other.intent))
        and not opposed(offers.sides(other.intent), said)
        and other.example.refuses == known.example.refuses
        and other.confidence > known.confidence - OUTDONE_BY
        for other in part.likely
    )


def _meant(evidence: Evidence) -> bool:
    return evidence.sureness >= evidence.intent.match.min_confidence
