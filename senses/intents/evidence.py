"""Finds the evidence for intents in an utterance: matches of their keywords and patterns.

Matches of the opposite side are dropped first (关灯 never means 开灯), then the longest wins where spans overlap.
"""

import re
from typing import Literal, NamedTuple

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.fitness import is_about_another, is_only_mentioned, is_told
from soulgraph.senses.intents.meaning import meanings_in
from soulgraph.senses.intents.objects import names_other_object
from soulgraph.senses.intents.opposites import Sides, first_sides, opposed
from soulgraph.senses.intents.refusal import is_refused
from soulgraph.senses.intents.shape import refuses, refuses_act, shape_of
from soulgraph.senses.intents.utterance import ParsedUtterance, Span

_ACT = re.compile(r"[把将设放播拉换改定停转讲叫]|(?<!空)调|\b(?:set|turn|play|make|put|tell)\b", re.IGNORECASE)

_IN_A_NOUN = re.compile("机(?!会)|[员师馆之厂]")  # makes a thing or a person of an act: 扫地机


_TAKES_BACK = re.compile(
    r"(?<=[,，。.;；!！…\s])(?:啊|哦|哎|呃|噢)?(?:不对|不是|说错了|错了|我是说|我说的是)(?=[,，。是…\s])"
    r"|\b(?:no,? (?:wait|sorry)|wait,? no|scratch that|or rather|i meant|i mean(?= the\b| to\b|\W*$))",
    re.IGNORECASE,
)
"""Who says so means what comes next in the place of what came before: that is for the model to put together."""


class Evidence(NamedTuple):
    """A span of the utterance that matches an intent by a keyword, a pattern, its concepts, or likeness to an example.

    Only concepts and likeness have a confidence below 1.
    """

    intent: Intent
    span: Span
    by: Literal["keyword", "regex", "concepts", "like"]
    what: str
    confidence: float = 1.0

    @property
    def why(self) -> str:
        return f"{self.by} {self.what}"


def evidence_in(utterance: ParsedUtterance, catalog: CompiledCatalog) -> list[Evidence]:
    candidates = catalog.candidates_for(utterance)
    claims = [claim for intent in candidates for claim in _evidence_for(intent, utterance, catalog)]
    found = _resolve_overlaps([*claims, *_by_concepts(utterance, catalog, claims)], utterance)
    return [] if _is_taken_back(found, utterance) else found


def refused(claim: Evidence, utterance: ParsedUtterance) -> bool:
    """Whether words before a match, or inside of what a pattern matched, negate it.

    Likeness is compared by shape, which includes refusals, so it is not checked again.
    """
    words = utterance.part(claim.span)
    if "prohibition" in shape_of([utterance.clause(claim.span)]):
        return True
    if claim.by in ("keyword", "regex"):
        return is_refused(utterance, claim.span) or (claim.by == "regex" and refuses(shape_of([words])))
    return claim.by == "concepts" and refuses_act(words)


def excluded(intent: Intent, utterance: ParsedUtterance) -> bool:
    return any(utterance.find(word) for word in intent.match.negative_keywords)


def sides_at(span: Span, utterance: ParsedUtterance) -> Sides:
    """The sides named by the span, else by its clause; a clause that names no act takes those of its neighbours."""
    at, clauses = utterance.clause_at(span.start), utterance.clauses
    around = [] if names_act(utterance.part(clauses[at])) else [*clauses[:at][::-1], *clauses[at + 1 :]]
    return first_sides(map(utterance.sides_within, [span, clauses[at], *around]))


def names_act(clause: str) -> bool:
    return _ACT.search(clause) is not None


def _evidence_for(intent: Intent, utterance: ParsedUtterance, catalog: CompiledCatalog) -> list[Evidence]:
    """The matches of an intent; empty when one of its conditions fails."""
    match = intent.match
    required = [_matches(intent, [word], [], utterance, catalog) for word in match.keywords_all]
    required += [_matches(intent, [], [pattern], utterance, catalog) for pattern in match.regex_all]
    if not all(any(not refused(claim, utterance) for claim in claims) for claims in required):
        return []
    claims = _matches(intent, match.keywords_any, match.regex_any, utterance, catalog)
    if not (match.keywords_any or match.regex_any):
        claims = [claim for claims in required for claim in claims]
    return [] if claims and excluded(intent, utterance) else claims


def _matches(
    intent: Intent, keywords: list[str], patterns: list[str], utterance: ParsedUtterance, catalog: CompiledCatalog
) -> list[Evidence]:
    """The matches of keywords and patterns that name no opposite side and are not misread."""
    claims = [Evidence(intent, span, "keyword", word) for word in keywords for span in utterance.find(word)]
    claims += [Evidence(intent, span, "regex", pattern) for pattern in patterns for span in utterance.search(pattern)]
    wanted = catalog.sides(intent)
    return [
        claim
        for claim in claims
        if not opposed(wanted, sides_at(claim.span, utterance)) and not _is_misread(claim, utterance, catalog)
    ]


def _is_misread(claim: Evidence, utterance: ParsedUtterance, catalog: CompiledCatalog) -> bool:
    """Whether a match is quoted, stands in a clause that asks for no act, or in one about another object."""
    where = (claim.intent, claim.span, utterance, catalog)
    if utterance.is_quoted(claim.span) or is_told(*where) or is_only_mentioned(*where):
        return True
    if catalog.profile(claim.intent).subjects and is_about_another(*where):
        return True
    if claim.by == "keyword" and _IN_A_NOUN.match(utterance.text, claim.span.end):
        return True
    return claim.by == "regex" and names_other_object(utterance.clause(claim.span), catalog.description(claim.intent))


def _by_concepts(utterance: ParsedUtterance, catalog: CompiledCatalog, claims: list[Evidence]) -> list[Evidence]:
    """Evidence by concepts in clauses that nothing else matches."""
    taken = {utterance.clause_at(claim.span.start) for claim in claims if not utterance.spans_clauses(claim.span)}
    found = [
        Evidence(meaning.intent, meaning.span, "concepts", ", ".join(sorted(meaning.concepts)), meaning.confidence)
        for meaning in meanings_in(utterance, catalog)
        if utterance.clause_at(meaning.span.start) not in taken and not excluded(meaning.intent, utterance)
    ]
    return [claim for claim in found if not _is_misread(claim, utterance, catalog)]


def _resolve_overlaps(claims: list[Evidence], utterance: ParsedUtterance) -> list[Evidence]:
    """Keeps one intent where several match the same words.

    Preferred are matches within one clause, then longer ones, then those of an intent without a match so far,
    then the higher priority, then the order of the catalog.
    """
    kept: list[Evidence] = []
    while claims:
        matched = {claim.intent.id for claim in kept}
        best = min(
            claims,
            key=lambda c: (utterance.spans_clauses(c.span), -c.span.length, c.intent.id in matched, -c.intent.priority),
        )
        kept.append(best)
        claims = [claim for claim in claims if claim is not best and not _compete(claim, best)]
    return kept


def _is_taken_back(claims: list[Evidence], utterance: ParsedUtterance) -> bool:
    places = [found.start() for found in _TAKES_BACK.finditer(utterance.text)]
    return bool(places) and any(claim.span.start < places[-1] for claim in claims)


def _compete(one: Evidence, other: Evidence) -> bool:
    return one.intent.id != other.intent.id and one.span.overlaps(other.span)
