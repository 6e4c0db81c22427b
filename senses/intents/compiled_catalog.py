"""A catalog prepared for matching, so that a turn only examines the intents that its words may match."""

from collections.abc import Sequence
from typing import NamedTuple

import regex

from soulgraph.senses.intents.calibration import background_for
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.concepts import Concepts, Profile, profile_of
from soulgraph.senses.intents.examples import Example, Examples, examples_of
from soulgraph.senses.intents.opposites import Sides, agreed_sides, majority_sides
from soulgraph.senses.intents.patterns import PatternPrefilter, compiled
from soulgraph.senses.intents.pieces import Pieces, at_once
from soulgraph.senses.intents.shape import Shape, shape_of
from soulgraph.senses.intents.utterance import ParsedUtterance, folded

_TEXTS_A_PIECE = 64
_PATTERNS_A_PIECE = 32
_BYTES_PER_TEXT, _BYTES_PER_PATTERN = 500, 20_000  # roughly


class _Reading(NamedTuple):
    """What is read from the texts of one intent."""

    sides: Sides
    shapes: Shape
    profile: Profile
    description: str
    examples: list[Example]


class _Parts(NamedTuple):
    readings: dict[str, _Reading]
    patterns: list[regex.Pattern[str]]
    prefilters: list[PatternPrefilter]
    background: list[str]


class CompiledCatalog:
    """The words of a catalog, read; its examples are learned later, because that takes an embedder."""

    def __init__(self, intents: Sequence[Intent], parts: _Parts | None = None) -> None:
        """`parts` are what `compile_catalog` has read in pieces; without them all is read at once."""
        parts = parts or at_once(_read(intents))
        self.intents = list(intents)
        self.examples = [example for reading in parts.readings.values() for example in reading.examples]
        self.background = parts.background
        self.learned: Examples | None = None
        self.subjects = Concepts().union(*(reading.profile.subjects for reading in parts.readings.values()))
        self._readings = parts.readings
        self._patterns = parts.patterns  # held, so that they are not compiled again for every utterance
        self._prefilters = parts.prefilters
        self._keyword_owners = [(folded(word), intent.id) for intent in intents for word in _keywords(intent)]
        self._with_patterns = {intent.id for intent in intents if _patterns(intent)}

    @property
    def nbytes(self) -> int:
        """The memory it takes, roughly."""
        texts = sum(len(_texts(intent)) for intent in self.intents)
        learned = self.learned.nbytes if self.learned else 0
        return learned + texts * _BYTES_PER_TEXT + len(self._patterns) * _BYTES_PER_PATTERN

    def candidates_for(self, utterance: ParsedUtterance) -> list[Intent]:
        """The intents whose keywords or patterns may match, in the order of the catalog."""
        text = folded(utterance.text)
        matching = {intent_id for word, intent_id in self._keyword_owners if word in text}
        if any(prefilter.passes(utterance.text, utterance.budget) for prefilter in self._prefilters):
            matching |= self._with_patterns
        return [intent for intent in self.intents if intent.id in matching]

    def sides(self, intent: Intent) -> Sides:
        return self._readings[intent.id].sides

    def description(self, intent: Intent) -> str:
        """The name, keywords, examples and patterns of an intent as one text."""
        return self._readings[intent.id].description

    def shapes(self, intent: Intent) -> Shape:
        """The shapes that the intent's own words have."""
        return self._readings[intent.id].shapes

    def profile(self, intent: Intent) -> Profile:
        return self._readings[intent.id].profile


def compile_catalog(intents: Sequence[Intent]) -> Pieces[CompiledCatalog]:
    parts = yield from _read(intents)
    return CompiledCatalog(intents, parts)


def _read(intents: Sequence[Intent]) -> Pieces[_Parts]:
    readings = {}
    texts = 0
    for intent in intents:
        readings[intent.id] = _reading_of(intent)
        texts += len(_words(intent))
        if texts >= _TEXTS_A_PIECE:
            texts = 0
            yield
    sources = [source for intent in intents for source in _patterns(intent)]
    prefilters = []
    for start in range(0, len(sources), _PATTERNS_A_PIECE):
        prefilters.append(PatternPrefilter(sources[start : start + _PATTERNS_A_PIECE]))
        yield
    patterns = [compiled(source) for intent in intents for source in intent.patterns()]
    return _Parts(readings, patterns, prefilters, _background_of(readings))


def _background_of(readings: dict[str, _Reading]) -> list[str]:
    """Sentences that ask for none of the intents, in the languages of the examples."""
    return background_for([example.text for reading in readings.values() for example in reading.examples])


def _reading_of(intent: Intent) -> _Reading:
    texts = _words(intent)
    return _Reading(
        _sides_of(intent),
        Shape().union(*(shape_of([text]) for text in texts)),
        profile_of(texts),
        " ".join(_texts(intent)),
        examples_of([intent]),
    )


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
