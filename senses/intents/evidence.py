"""What the words of an utterance say for which intent.

Opposites decide first (关灯 never means 开灯), then the longest evidence wins where spans overlap.
"""

import re
from typing import Literal, NamedTuple

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.objects import about_another
from soulgraph.senses.intents.opposites import Sides, first_sides, opposed
from soulgraph.senses.intents.refusal import is_refused
from soulgraph.senses.intents.shape import is_told, refuses, shape_of
from soulgraph.senses.intents.utterance import Span, Utterance

_ACT = re.compile(r"[把将设放播拉换改定停转讲叫]|(?<!空)调|\b(?:set|turn|play|make|put|tell)\b", re.IGNORECASE)


class Evidence(NamedTuple):
    """One place in the utterance that speaks for an intent: by a keyword, by a pattern, or, more or less surely, by
    being like an example."""

    intent: Intent
    span: Span
    by: Literal["keyword", "regex", "like"]
    what: str
    sureness: float = 1.0

    @property
    def why(self) -> str:
        return f"{self.by} {self.what}"


def evidence_in(utterance: Utterance, offers: CompiledCatalog) -> list[Evidence]:
    claims = [claim for intent in offers.touched_by(utterance) for claim in _for(intent, utterance, offers)]
    return _longest(claims, utterance)


def refused(claim: Evidence, utterance: Utterance) -> bool:
    """Spoken against, in front of it or within what a pattern caught; likeness has looked at that already."""
    within = claim.by == "regex" and refuses(shape_of([utterance.part(claim.span)]))
    return within or (claim.by != "like" and is_refused(utterance, claim.span))


def excluded(intent: Intent, utterance: Utterance) -> bool:
    return any(utterance.find(word) for word in intent.match.negative_keywords)


def sides_at(span: Span, utterance: Utterance) -> Sides:
    """Named by the span itself, else by its clause; a clause that names no act borrows from those around it."""
    at, clauses = utterance.clause_at(span.start), utterance.clauses
    around = [] if names_act(utterance.part(clauses[at])) else [*clauses[:at][::-1], *clauses[at + 1 :]]
    return first_sides(map(utterance.sides_within, [span, clauses[at], *around]))


def names_act(clause: str) -> bool:
    return _ACT.search(clause) is not None


def _for(intent: Intent, utterance: Utterance, offers: CompiledCatalog) -> list[Evidence]:
    """What speaks for an intent; nothing does when a condition fails or the opposite side was named."""
    match = intent.match
    required = [_claims(intent, [word], [], utterance, offers) for word in match.keywords_all]
    required += [_claims(intent, [], [pattern], utterance, offers) for pattern in match.regex_all]
    if not all(any(not refused(claim, utterance) for claim in claims) for claims in required):
        return []
    claims = _claims(intent, match.keywords_any, match.regex_any, utterance, offers)
    if not (match.keywords_any or match.regex_any):
        claims = [claim for claims in required for claim in claims]
    return [] if claims and excluded(intent, utterance) else claims


def _claims(
    intent: Intent, keywords: list[str], patterns: list[str], utterance: Utterance, offers: CompiledCatalog
) -> list[Evidence]:
    """The places of keywords and patterns, on a side that is not the intent's opposite."""
    claims = [Evidence(intent, span, "keyword", word) for word in keywords for span in utterance.find(word)]
    claims += [Evidence(intent, span, "regex", pattern) for pattern in patterns for span in utterance.search(pattern)]
    wanted = offers.sides(intent)
    return [
        claim
        for claim in claims
        if not opposed(wanted, sides_at(claim.span, utterance)) and not _misread(claim, utterance, offers)
    ]


def _misread(claim: Evidence, utterance: Utterance, offers: CompiledCatalog) -> bool:
    """In a story, or, as far as a pattern goes, about some other thing."""
    clause = utterance.clause(claim.span)
    return is_told(clause) or (claim.by == "regex" and about_another(clause, offers.words(claim.intent)))


def _longest(claims: list[Evidence], utterance: Utterance) -> list[Evidence]:
    """Where intents claim the same words: within a clause before across, longer before shorter, who has none yet first,
    then the higher priority, then the catalog's order."""
    kept: list[Evidence] = []
    while claims:
        having = {claim.intent.id for claim in kept}
        best = min(
            claims,
            key=lambda c: (utterance.spans_clauses(c.span), -c.span.length, c.intent.id in having, -c.intent.priority),
        )
        kept.append(best)
        claims = [claim for claim in claims if claim is not best and not _rivals(claim, best)]
    return kept


def _rivals(one: Evidence, other: Evidence) -> bool:
    return one.intent.id != other.intent.id and one.span.overlaps(other.span)
