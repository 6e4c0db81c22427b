"""A catalog made ready for matching, so that a turn pays only for the intents its words touch."""

from collections.abc import Sequence
from functools import cached_property

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.examples import Example, examples_of
from soulgraph.senses.intents.opposites import Sides, only_sides, usual_sides
from soulgraph.senses.intents.patterns import Sieve
from soulgraph.senses.intents.shape import Shape, shape_of
from soulgraph.senses.intents.utterance import Utterance, folded


class CompiledCatalog:
    def __init__(self, catalog: Sequence[Intent]) -> None:
        self.catalog = list(catalog)
        self._sides = {intent.id: sides_of(intent) for intent in catalog}
        self._shapes = {intent.id: {shape_of([text]) for text in intent.match.examples} for intent in catalog}
        self._named = {intent.id: " ".join(_texts(intent)) for intent in catalog}
        self._words = [(folded(word), intent.id) for intent in catalog for word in _keywords(intent)]
        self._by_pattern = {intent.id for intent in catalog if _patterns(intent)}
        self._sieve = Sieve(pattern for intent in catalog for pattern in _patterns(intent))

    def touched_by(self, utterance: Utterance) -> list[Intent]:
        """The intents that keywords or patterns could speak for, in the catalog's order."""
        text = folded(utterance.text)
        touched = {intent_id for word, intent_id in self._words if word in text}
        if self._sieve.passes(utterance.text):
            touched |= self._by_pattern
        return [intent for intent in self.catalog if intent.id in touched]

    def sides(self, intent: Intent) -> Sides:
        return self._sides[intent.id]

    def words(self, intent: Intent) -> str:
        """All it is called and asked for by."""
        return self._named[intent.id]

    def shapes(self, intent: Intent) -> set[Shape]:
        """The shapes in which it is asked for."""
        return self._shapes[intent.id]

    @cached_property
    def examples(self) -> list[Example]:
        return examples_of(self.catalog)


def sides_of(intent: Intent) -> Sides:
    """As its names and keywords say; where they say nothing, as its examples do."""
    match = intent.match
    named = only_sides([intent.id, intent.name, *match.keywords_any, *match.keywords_all])
    shown = usual_sides(match.examples)
    return tuple(name or example for name, example in zip(named, shown, strict=True))


def _texts(intent: Intent) -> list[str]:
    match = intent.match
    words = [intent.name, *match.keywords_any, *match.keywords_all, *match.examples]
    return [*words, *_patterns(intent)]


def _patterns(intent: Intent) -> list[str]:
    return [*intent.match.regex_any, *intent.match.regex_all]


def _keywords(intent: Intent) -> list[str]:
    """Those that can speak for it."""
    return intent.match.keywords_any or intent.match.keywords_all
