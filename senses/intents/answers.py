"""Reads an utterance as the answer to the soul's own question about a missing slot: 调到几度？ – 二十六度吧."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from importlib.resources import files

import yaml

from soulgraph.senses.intents.catalog import Intent, Slot
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.decision import IntentResult, MatchedIntent
from soulgraph.senses.intents.evidence import evidence_in
from soulgraph.senses.intents.shape import TELLING, refuses, shape_of
from soulgraph.senses.intents.slots import Value, fill_slots, match_of
from soulgraph.senses.intents.utterance import ParsedUtterance, find_word
from soulgraph.senses.values.numbers import in_digits
from soulgraph.soul.language import lang_of

MAX_REST = 4  # letters that an answer may have beside its value and the words around one
MAX_TEXT = 40  # letters of a text that is a value as a whole

_WORDS: dict[str, re.Pattern[str]] = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in yaml.load((files(__package__) / "answers.yaml").read_text("utf-8"), yaml.CSafeLoader).items()
}
_COUNTED = re.compile(r"[^\W算好]了\d")
_PIECE = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
_NOT_A_LETTER = re.compile(r"[\W\d_]+")
_HESITATION = re.compile(
    r"^(?:[嗯啊哦呃额那就]|提醒我|\b(?:um+|uh+|well|ok|to)\b|\W)+|(?:[吧呗呀啊]|\bplease\b|\W)+$", re.IGNORECASE
)


def answer_to(
    asked: Sequence[MatchedIntent], utterance: ParsedUtterance, catalog: CompiledCatalog, now: datetime
) -> IntentResult | None:
    """The asked intents with the slots that the utterance fills; None if it is no answer."""
    if _WORDS["dropping"].search(utterance.text):
        rest = _WORDS["dropping"].sub("", utterance.text)
        dropped = IntentResult.without("fallback_reasoning", "the question is dropped")
        return None if _letters(_WORDS["around"].sub("", rest)) > MAX_REST else dropped
    open_ids = {match.intent_id for match in asked}
    if _tells(utterance) or any(claim.intent.id not in open_ids for claim in evidence_in(utterance, catalog)):
        return None
    filled = [*_filled(asked, utterance, catalog, now)]
    return IntentResult.matched(filled) if filled else None


def _tells(utterance: ParsedUtterance) -> bool:
    shape = shape_of([utterance.part(clause) for clause in utterance.clauses])
    return bool(shape & TELLING) or refuses(shape)


def _filled(
    asked: Sequence[MatchedIntent], utterance: ParsedUtterance, catalog: CompiledCatalog, now: datetime
) -> Iterator[MatchedIntent]:
    known = {intent.id: intent for intent in catalog.intents}
    for match in asked:
        intent = known.get(match.intent_id)
        if intent and (values := _values(intent, match, utterance, now)):
            parameters = match.parameters | values
            yield match_of(intent, parameters, match.confidence, f"answers “{match.question}”", lang_of(utterance.text))


def _values(intent: Intent, match: MatchedIntent, utterance: ParsedUtterance, now: datetime) -> dict[str, Value]:
    """The values that fill slots which were missing; empty if none is, or if much else is said."""
    text = utterance.text
    missing = [slot for slot in intent.slots if slot.required and slot.name not in match.parameters]
    values = {**_abbreviated(missing, text), **fill_slots(intent.slots, text, now, utterance.budget)}
    if any(slot.name in values for slot in missing):
        return values if _is_short(text, values) else {}
    return _whole_text(missing[0], text) if missing else {}


def _abbreviated(slots: Sequence[Slot], text: str) -> dict[str, Value]:
    """The values that are named by what no other value of the slot has: 紫的 for 紫色."""
    named = {slot.name: [value for value in slot.values if _names(value, slot.values, text)] for slot in slots}
    return {name: values[0] for name, values in named.items() if len(values) == 1}


def _names(value: str, values: Sequence[str], text: str) -> bool:
    others = {piece for other in values if other != value for piece in _PIECE.findall(other)}
    return any(find_word(piece, text) for piece in _PIECE.findall(value) if piece not in others)


def _is_short(text: str, values: dict[str, Value]) -> bool:
    """Whether little is said beside the values: 我今天走了两万步 is no temperature."""
    rest = in_digits(text)
    if _COUNTED.search(rest):
        return False
    for value in values.values():
        rest = rest.replace(str(value), " ")
    return _letters(_WORDS["around"].sub(" ", rest)) <= MAX_REST


def _whole_text(slot: Slot, text: str) -> dict[str, Value]:
    """A slot for any text takes all that is said."""
    value = _HESITATION.sub("", text)
    free = slot.type == "text" and not slot.values
    return {slot.name: value} if free and 0 < len(value) <= MAX_TEXT else {}


def _letters(text: str) -> int:
    """How much is said: a Chinese character is one, and so are two letters of an alphabet."""
    letters = _NOT_A_LETTER.sub("", text)
    chinese = sum(char > "\u2e7f" for char in letters)
    return chinese + (len(letters) - chinese) // 2
