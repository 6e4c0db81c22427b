"""Words of both languages share concepts, and nothing else."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.senses.synonyms import build_synonyms, synonym_groups
from soulgraph.senses.tokenizer import index_terms, terms_of, words_of


def concepts(text):
    return {term for term in index_terms(text) if term.startswith("=")}


@pytest.mark.parametrize(
    ("chinese", "english"),
    [
        ("我妈做了手术", "my mother's surgery"),
        ("猫又生病了", "both cats are ill"),
        ("星期四有大提琴课", "a cello lesson on Thursday"),
        ("媽媽的雨傘", "Mum's umbrella"),
    ],
)
def test_the_same_said_in_the_other_language_has_the_same_meanings(chinese, english):
    assert concepts(english)
    assert concepts(english) <= concepts(chinese)


def test_a_longer_word_hides_the_shorter_ones_inside_it():
    synonyms = build_synonyms([["car", "车"], ["station", "车站"]], str.lower)
    assert synonyms.concepts("车站", []) == ["=station"]
    assert synonyms.concepts("站车车", []) == ["=car"]


def test_a_word_may_have_several_meanings_and_a_word_that_says_nothing_has_none():
    synonyms = build_synonyms(
        [["box", "箱子"], ["suitcase", "the", "箱子"]], lambda word: "" if word == "the" else word
    )
    assert synonyms.concepts("箱子", []) == ["=box", "=suitcase"]
    assert synonyms.concepts("", ["the", ""]) == []


@given(st.text(max_size=80))
def test_meanings_come_after_the_terms_and_each_once(text):
    terms = words_of(text)
    found = index_terms(text)
    assert found[: len(terms)] == terms
    assert max(Counter(found[len(terms) :]).values(), default=1) == 1


def test_every_line_of_the_gloss_speaks_both_languages_and_has_a_name_of_its_own():
    lines = synonym_groups()
    assert all({word.isascii() for word in words} == {True, False} for words in lines)
    assert len({words[0] for words in lines}) == len(lines)
    assert [word for words in lines for word in words if word.isascii() and not terms_of(word)] == []
