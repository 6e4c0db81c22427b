"""The ranking: relevance decides what comes to mind, the rest only the order."""

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
    served,
    standing,
    top_k,
)

SHARES = st.floats(0, 1.5, width=32)
DAY = 86_400.0


def stands(relevant=0.5, by_user=0.0, age_s=0.0):
    return standing(*(np.array([one], np.float32) for one in (relevant, by_user, age_s)), EPISODES)[0]


@given(SHARES, SHARES, SHARES, SHARES)
def test_more_relevance_never_ranks_lower(lexical, dense, more_words, more_meaning):
    one, other = relevance(np.array([lexical, lexical + more_words]), np.array([dense, dense + more_meaning]), EPISODES)
    assert stands(other) >= stands(one)


def test_of_two_alike_the_users_words_and_the_newer_one_come_first():
    assert stands(by_user=1) > stands()
    assert stands(age_s=DAY) > stands(age_s=90 * DAY)


def test_usefulness_and_age_cannot_outweigh_a_clear_difference_in_relevance():
    most = served(np.array([10_000.0]), EPISODES)[0]
    assert stands(0.9, age_s=3000 * DAY) > stands(0.5) + most


@given(st.floats(0, 1000), st.floats(0.1, 1000))
def test_having_been_useful_more_often_adds_ever_less(useful, more):
    never, some, much = served(np.array([0.0, useful, useful + more]), EPISODES)
    assert never == 0 <= some <= much < EPISODES.useful


def test_what_points_away_counts_as_far_and_not_against_the_words():
    far, away = relevance(np.array([0.5, 0.5]), np.array([0.0, -0.9]), EPISODES)
    assert far == away


@pytest.mark.parametrize(
    ("nearest", "familiar", "sparked"),
    [(0.0, 0.0, False), (0.4, 0.0, True), (0.2, 0.1, False), (0.2, 0.9, True), (None, 0.1, False), (None, 0.5, True)],
)
def test_a_question_must_be_near_something_or_in_words_that_were_used(nearest, familiar, sparked):
    assert is_relevant(nearest, familiar, 1000, EPISODES) == sparked


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 10**6), st.integers(1, 10**6))
def test_what_sparks_among_many_texts_would_among_few(nearest, familiar, one, other):
    few, many = sorted((one, other))
    assert is_relevant(nearest, familiar, few, EPISODES) or not is_relevant(nearest, familiar, many, EPISODES)
    assert (
        is_relevant(nearest, familiar, many, EPISODES)
        or many <= 1000
        or not is_relevant(nearest, familiar, 1000, EPISODES)
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
def test_the_greatest_are_the_greatest(values, most):
    values = np.array(values)
    kept = values[top_k(values, most)]
    assert sorted(kept) == sorted(values[values > 0])[-most:]
