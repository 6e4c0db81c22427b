"""Whether words that resemble an intent ask for it: questions, reports and words about other things do not."""

import re

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.concepts import SUBJECTS, asks, concepts_in, requests, words_beside
from soulgraph.senses.intents.opposites import names_side
from soulgraph.senses.intents.shape import TELLING, Shape, is_supposed, refuses, shape_of
from soulgraph.senses.intents.utterance import ParsedUtterance, Span, find_word

MAX_BEFORE = 2  # Chinese characters in front of a bare command that say more than when, where and how much
MAX_AFTER = 3

_ALSO_ASKED = Shape(["hypothetical", "third_person", "own_doing"])  # of questions: "will I need an umbrella"
_REASONS = Shape(["description", "complaint"])
_COMPARES = re.compile(
    r"^[^。!?！？;；]*(?:哪[个种款样]|区别|更[好省费]|没想好|拿不定"
    r"|\b(?:which|better|cheaper|difference|haven't decided)\b)",
    re.IGNORECASE,
)
_REPORTS = re.compile(
    r"[说问讲](?:[他她我咱]|自己)[^，,：:。！？!?；;]*$|\b(?:said|says|told) (?:he|she|they)\b[^.,;!?]*$", re.IGNORECASE
)
"""Words of others, in front of what they say that they themselves will do."""
_JOINED = re.compile(r"(?:和|跟|、|还是|\b(?:and|or))\s*$", re.IGNORECASE)


def is_told(intent: Intent, span: Span, utterance: ParsedUtterance, catalog: CompiledCatalog) -> bool:
    """Whether words tell or wonder about an act instead of asking for it, and the intent's own words do not.

    Of several clauses one may be the reason for the request: 这首听腻了，跳过吧.
    """
    own = catalog.shapes(intent)
    tolerated = own | _ALSO_ASKED if "wonder" in own or not catalog.profile(intent).subjects else own
    clauses = [clause for clause in utterance.clauses if clause.overlaps(span)]
    if len(clauses) > 1:
        tolerated |= _REASONS
    return any(
        _telling_shape(Span(max(span.start, clause.start), clause.end), utterance) - tolerated for clause in clauses
    )


def is_about_another(intent: Intent, span: Span, utterance: ParsedUtterance, catalog: CompiledCatalog) -> bool:
    """Whether a clause names a thing that the intent does not, or orders it about and no intent names it."""
    clause = utterance.clause(span)
    subjects = concepts_in(clause) & SUBJECTS
    profile = catalog.profile(intent)
    if not subjects or not profile.subjects:
        return bool(subjects - catalog.subjects) and asks(clause) and names_side(clause)
    return not subjects & profile.known


def is_only_mentioned(intent: Intent, span: Span, utterance: ParsedUtterance, catalog: CompiledCatalog) -> bool:
    """Whether a clause asks for nothing and has the intent's keywords among other words: 保洁阿姨每周二来打扫."""
    clauses = [utterance.part(clause) for clause in utterance.clauses if clause.overlaps(span)]
    return any(_mentions(clause, intent) for clause in clauses if not _may_ask_for(clause, intent, catalog))


def _may_ask_for(clause: str, intent: Intent, catalog: CompiledCatalog) -> bool:
    shape = shape_of([clause])
    return asks(clause) or requests(clause) or refuses(shape) or "wonder" in shape & catalog.shapes(intent)


def _mentions(clause: str, intent: Intent) -> bool:
    """Whether no keyword in a clause is a bare command; free text of a slot may follow one."""
    for value in (value for slot in intent.slots for value in slot.values):
        clause = clause.replace(value, "")
    found = [each for word in intent.match.keywords_any for each in find_word(word, clause)]
    takes_text = any(slot.regex for slot in intent.slots)
    return bool(found) and all(
        words_beside(clause[: each.start]) > MAX_BEFORE
        or (words_beside(clause[each.end :]) > MAX_AFTER and not takes_text)
        for each in found
    )


def _telling_shape(span: Span, utterance: ParsedUtterance) -> Shape:
    at = utterance.clause_at(span.start)
    clause = utterance.part(utterance.clauses[at])
    shape = shape_of([clause]) & TELLING
    if not is_supposed(clause, span.start - utterance.clauses[at].start):
        shape -= {"hypothetical"}
    if _REPORTS.search(utterance.text[: span.start]):
        shape |= {"quotation"}
    rest = utterance.text[utterance.clauses[at].end :]
    following = utterance.part(utterance.clauses[at + 1]) if _JOINED.search(clause) and rest else ""
    wondered = _COMPARES.search(rest) or "wonder" in shape_of([following])
    return shape | {"wonder"} if wondered else shape
