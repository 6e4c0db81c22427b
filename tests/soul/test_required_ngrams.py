"""N-grams never hide what a pattern finds, and spare most texts the search."""

import re
from importlib.resources import files

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.senses.intents import concepts, opposites, shape
from soulgraph.senses.permissions.grammar import Frame, Grammar, grammar
from soulgraph.senses.plans.words import patterns as plan_patterns
from soulgraph.senses.values import time_words
from soulgraph.senses.values.rules import Scanner
from soulgraph.soul import clauses, mode_words, own_words, patterns, preference_words, signal_words, signals
from soulgraph.soul.ngram_index import MAX_CHARS, NgramIndex, ngrams_in
from soulgraph.soul.patterns import PatternIndex, lazy_pattern
from soulgraph.soul.required_ngrams import ngrams_of

MODULES = [clauses, concepts, mode_words, opposites, preference_words, shape, signal_words, signals, time_words]
EXPRESSIONS = [
    r"\bif\b|\bunless\b|如果|要是",
    r"\b(?:stop|quit)(?: (?:it|that)s?)+\b",
    r"(?:don't|do not) (?:ever )?call(?:ing)? me",
    r"[?？]|[吗么]\W*$",
    r"(?:放|播)[^，,]{0,4}?(?:歌|音乐)",
    r"\bmode\s+(?:is|to)\b|模式(?=吧|$)",
    r"^\W*(?:so|and)?\s*wake\w+",
    r"(?<!un)quote\b(?! of)",
    r"(?:(?!)|the) end|(?:(?!)) never",
    r"[a-c]x{2,3}y*[^z]k",
    r"(?-i:Kelvin) (?:scale|Skin)",
    r"\B(?:ish)\B|(?P<a>ab)(?P=a)",
    r"3?\d:[0-5]\d\b",
    r"(?:(?:(?!))?|ab)cq",
]
TEXTS = st.text(st.sampled_from("ifIF kK.,'?？ſıİ\u212asS吗放歌x_3"), max_size=6)


def sentences():
    """Of the open data of the senses: English and Chinese."""
    folder = files("soulgraph.tests.senses")
    names = "grounding_open.yaml", "stories_open.yaml", "values/times_open.yaml", "permissions/sharing_open.yaml"
    loaded = [yaml.load((folder / name).read_text("utf-8"), yaml.CSafeLoader) for name in names]
    return sorted({text for text in _strings(loaded) if 4 < len(text) <= MAX_CHARS})[::12]


def _strings(data):
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict | list):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _strings(part)


def _patterns(data):
    """All that are in a module, a collection or an object of ours."""
    if isinstance(data, patterns._LazyPattern):
        yield data
    elif isinstance(data, dict | list | tuple):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _patterns(part)
    elif isinstance(data, PatternIndex | Scanner | Grammar | Frame):
        yield from _patterns(vars(data))


@pytest.mark.parametrize("expression", EXPRESSIONS)
@settings(deadline=None)
@given(data=st.data())
def test_what_a_pattern_finds_is_found_with_signs(expression, data):
    compiled, lazy = re.compile(expression, re.IGNORECASE), lazy_pattern(expression, re.IGNORECASE)
    text = data.draw(TEXTS) + data.draw(st.from_regex(compiled)) + data.draw(TEXTS)
    for written in (text, text.upper(), text.title(), text.replace("s", "ſ").replace("i", "İ")):
        assert bool(lazy.search(written)) == bool(compiled.search(written))
        assert [*map(re.Match.span, lazy.finditer(written))] == [*map(re.Match.span, compiled.finditer(written))]
        assert lazy.sub("-", written) == compiled.sub("-", written)


def test_no_pattern_of_ours_is_found_where_its_signs_are_not():
    plans = [plan_patterns(language) for language in ("zh", "en", "both")]
    own = [
        own_words._pattern(name) for name in ("reads", "heads", "spoken", "reports", "works_on", "machine", "orders")
    ]
    ours = {*_patterns([*map(vars, MODULES), plans, own, grammar()])}
    filtered = [(pattern.compiled, NgramIndex([pattern.ngrams])) for pattern in ours if pattern.ngrams]
    assert len(filtered) > 300
    skipped = 0
    for text in sentences():
        for compiled, ngrams in filtered:
            if not ngrams.candidates(text):
                skipped += 1
                assert compiled.search(text) is None, (compiled.pattern, text)
    assert skipped > 0.8 * len(filtered) * len(sentences())


@pytest.mark.parametrize(
    ("expression", "ngrams"),
    [
        (r"\bif\b", [(" if",)]),
        (r"ab|[xy]z", [("ab",), ("xz", "yz")]),
        (r"(?:ab)?zzz", [("zzz", "zzz")]),
        (r"x+y", [("x",), ("xy",)]),
        (r"q[01]{2}", [("q0", "q1"), ("0", "1")]),
        (r"别.*了", [("别",), ("了",)]),
        (r"(?:(?!)) gone", [()]),
    ],
)
def test_signs_are_the_rarest_pieces(expression, ngrams):
    found = ngrams_of(expression, re.IGNORECASE)
    assert {piece for some in found for pieces in some for piece in pieces} == {
        piece for some in ngrams for piece in some
    }


@pytest.mark.parametrize("expression", [r"\w+", r"[^a]b?", r"[ea的了我]", r"(?a:\bif\b)|é", r"(?:zz)*", r"[\b]"])
def test_without_rare_signs_there_are_none(expression):
    assert not ngrams_of(expression, re.IGNORECASE)


def test_a_search_that_ends_within_a_word_is_made():
    lazy = lazy_pattern(r"\bif\b")
    assert lazy.search("iffy") is None
    assert lazy.search("iffy", 0, 2)


def test_a_long_text_is_searched_and_not_cut_into_pieces():
    before = ngrams_in.cache_info().misses
    assert lazy_pattern("zebra").search("a" * MAX_CHARS + "zebra")
    assert ngrams_in.cache_info().misses == before


@settings(deadline=None)
@given(text=TEXTS)
def test_an_index_finds_what_its_patterns_find_in_their_order(text):
    listed = dict(enumerate(EXPRESSIONS))
    index = PatternIndex({name: lazy_pattern(one, re.IGNORECASE) for name, one in listed.items()})
    assert [*index.found_in(text)] == [name for name, one in listed.items() if re.search(one, text, re.IGNORECASE)]
