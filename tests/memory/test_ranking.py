"""The ranking formulas: relevance decides what is recalled, the rest only the order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.memory.ranking import (
    EPISODES,
    USUAL_LENGTH,
    bm25_tf,
    idf,
    is_relevant,
    relevance,
    score,
    top_k,
    usefulness_bonus,
)

SHARES = st.floats(0, 1.5, width=32)
DAY = 86_400.0


def scored(relevant=0.5, age_s=0.0):
    return score(*(np.array([one], np.float32) for one in (relevant, age_s)), EPISODES)[0]


@given(SHARES, SHARES, SHARES, SHARES)
def test_more_relevance_never_ranks_lower(lexical, dense, more_words, more_meaning):
    one, other = relevance(np.array([lexical, lexical + more_words]), np.array([dense, dense + more_meaning]), EPISODES)
    assert scored(other) >= scored(one)


def test_of_two_alike_the_newer_one_comes_first():
    assert scored(age_s=DAY) > scored(age_s=90 * DAY)


def test_usefulness_and_age_cannot_outweigh_a_clear_difference_in_relevance():
    most = usefulness_bonus(np.array([10_000.0]), EPISODES)[0]
    assert scored(0.9, age_s=3000 * DAY) > scored(0.5) + most


@given(st.floats(0, 1000), st.floats(0.1, 1000))
def test_having_been_useful_more_often_adds_ever_less(useful, more):
    never, some, much = usefulness_bonus(np.array([0.0, useful, useful + more]), EPISODES)
    assert never == 0 <= some <= much < EPISODES.useful


def test_what_points_away_counts_as_far_and_not_against_the_words():
    far, away = relevance(np.array([0.5, 0.5]), np.array([0.0, -0.9]), EPISODES)
    assert far == away


@pytest.mark.parametrize(
    ("similarity", "known_terms", "expected"),
    [(0.0, 0.0, False), (0.4, 0.0, True), (0.2, 0.1, False), (0.2, 0.9, True), (None, 0.1, False), (None, 0.5, True)],
)
def test_a_question_must_be_near_something_or_in_words_that_were_used(similarity, known_terms, expected):
    assert is_relevant(similarity, known_terms, 1000, EPISODES) == expected


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 10**6), st.integers(1, 10**6))
def test_what_is_relevant_among_many_texts_would_be_among_few(similarity, known_terms, one, other):
    few, many = sorted((one, other))
    assert is_relevant(similarity, known_terms, few, EPISODES) or not is_relevant(
        similarity, known_terms, many, EPISODES
    )
    assert (
        is_relevant(similarity, known_terms, many, EPISODES)
        or many <= 1000
        or not is_relevant(similarity, known_terms, 1000, EPISODES)
    )


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_rarer_term_says_more(one, other):
    few, many = sorted((one, other))
    assert idf(few, 1000) >= idf(many, 1000) >= 0


@given(st.floats(1, 50), st.floats(1, 50))
def test_repeating_a_term_adds_ever_less_and_it_says_less_in_a_long_text(frequency, length):
    times = bm25_tf(np.array([frequency, frequency + 1, frequency + 2]), np.full(3, length))
    assert times[1] - times[0] >= times[2] - times[1] >= 0
    assert bm25_tf(np.array([frequency]), np.array([length + USUAL_LENGTH]))[0] < times[0]


@given(st.lists(st.floats(-1, 1), max_size=40), st.integers(1, 8))
def test_top_k_are_the_greatest(values, k):
    values = np.array(values)
    kept = values[top_k(values, k)]
    assert sorted(kept) == sorted(values[values > 0])[-k:]
