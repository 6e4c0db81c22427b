"""A catalog prepared for matching, so that a turn only examines the intents that its words may match."""

from collections.abc import Sequence
from functools import cached_property

from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.concepts import Concepts, Profile, profile_of
from soulgraph.senses.intents.examples import Example, examples_of
from soulgraph.senses.intents.opposites import Sides, agreed_sides, majority_sides
from soulgraph.senses.intents.patterns import PatternPrefilter
from soulgraph.senses.intents.shape import Shape, shape_of
from soulgraph.senses.intents.utterance import ParsedUtterance, folded


class CompiledCatalog:
    def __init__(self, intents: Sequence[Intent]) -> None:
        self.intents = list(intents)
        self._sides = {intent.id: _sides_of(intent) for intent in intents}
        self._shapes = {intent.id: Shape().union(*(shape_of([text]) for text in _words(intent))) for intent in intents}
        self._profiles = {intent.id: profile_of(_words(intent)) for intent in intents}
        self.subjects = Concepts().union(*(profile.subjects for profile in self._profiles.values()))
        self._descriptions = {intent.id: " ".join(_texts(intent)) for intent in intents}
        self._keyword_owners = [(folded(word), intent.id) for intent in intents for word in _keywords(intent)]
        self._with_patterns = {intent.id for intent in intents if _patterns(intent)}
        self._prefilter = PatternPrefilter(pattern for intent in intents for pattern in _patterns(intent))

    def candidates_for(self, utterance: ParsedUtterance) -> list[Intent]:
        """The intents whose keywords or patterns may match, in the order of the catalog."""
        text = folded(utterance.text)
        matching = {intent_id for word, intent_id in self._keyword_owners if word in text}
        if self._prefilter.passes(utterance.text):
            matching |= self._with_patterns
        return [intent for intent in self.intents if intent.id in matching]

    def sides(self, intent: Intent) -> Sides:
        return self._sides[intent.id]

    def description(self, intent: Intent) -> str:
        """The name, keywords, examples and patterns of an intent as one text."""
        return self._descriptions[intent.id]

    def shapes(self, intent: Intent) -> Shape:
        """The shapes that the intent's own words have."""
        return self._shapes[intent.id]

    def profile(self, intent: Intent) -> Profile:
        return self._profiles[intent.id]

    @cached_property
    def examples(self) -> list[Example]:
        return examples_of(self.intents)


def _sides_of(intent: Intent) -> Sides:
    """The sides that an intent's names and keywords name, else those that most of its examples name."""
    match = intent.match
    named = agreed_sides([intent.id, intent.name, *match.keywords_any, *match.keywords_all])
    in_examples = majority_sides(match.examples)
    return tuple(name or example for name, example in zip(named, in_examples, strict=True))


def _texts(intent: Intent) -> list[str]:
    return [*_words(intent), *_patterns(intent)]


def _words(intent: Intent) -> list[str]:
    match = intent.match
    return [intent.name, *match.keywords_any, *match.keywords_all, *match.examples]


def _patterns(intent: Intent) -> list[str]:
    return [*intent.match.regex_any, *intent.match.regex_all]


def _keywords(intent: Intent) -> list[str]:
    """The keywords of which one must occur for the intent to match by keywords."""
    return intent.match.keywords_any or intent.match.keywords_all
