"""The ranking: relevance decides what comes to mind, the rest only the order."""

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.memory.ranking import EPISODES, Signals, best, rarity, relevance, saturated, standing

SHARES = st.floats(0, 1.5, width=32)
DAY = 86_400.0


def signals(lexical=0.0, dense=0.0, by_user=0.0, age_s=0.0, useful=0.0):
    given_ones = np.broadcast_arrays(
        *(np.atleast_1d(np.float32(one)) for one in (lexical, dense, by_user, age_s, useful))
    )
    return Signals(*given_ones)


@given(st.lists(st.tuples(SHARES, SHARES), max_size=30), st.integers(0, 10))
def test_what_is_recalled_is_relevant_and_in_order(pairs, k):
    pairs = np.array(pairs, np.float32).reshape(-1, 2)
    candidates = signals(pairs[:, 0], pairs[:, 1]) if len(pairs) else signals([], [], [], [], [])
    places = best(candidates, k, EPISODES)
    heights = standing(candidates, EPISODES)[places]
    assert len(places) <= k
    assert len(set(places)) == len(places)
    assert (relevance(candidates.lexical, candidates.dense, EPISODES)[places] >= EPISODES.floor).all()
    assert (np.diff(heights) <= 0).all()


@given(SHARES, SHARES, st.floats(0, 1.5), st.floats(0, 1.5))
def test_more_relevance_never_ranks_lower(lexical, dense, more_words, more_meaning):
    one, other = standing(signals([lexical, lexical + more_words], [dense, dense + more_meaning]), EPISODES)
    assert other >= one


def test_nothing_is_recalled_when_nothing_is_near():
    almost = signals(dense=[EPISODES.spark - 0.01] * 3, by_user=1, useful=1000)
    assert best(almost, 3, EPISODES) == []


def test_what_is_near_brings_what_is_less_near_with_it_but_not_what_is_far():
    near, less, far = EPISODES.spark + 0.1, EPISODES.floor + 0.01, EPISODES.floor - 0.01
    assert best(signals(dense=[less, near, far]), 3, EPISODES) == [1, 0]


def test_of_two_alike_the_users_words_the_newer_and_the_more_useful_one_comes_first():
    for better in ({"by_user": [0, 1]}, {"age_s": [90 * DAY, DAY]}, {"useful": [0, 3]}):
        assert best(signals(**({"dense": [0.5, 0.5]} | better)), 2, EPISODES) == [1, 0]


def test_usefulness_and_age_cannot_outweigh_a_clear_difference_in_relevance():
    assert best(signals(dense=[0.7, 0.4], age_s=[3000 * DAY, 0], useful=[0, 10_000]), 2, EPISODES) == [0, 1]


def test_what_points_away_counts_as_far_and_not_against_the_words():
    assert relevance(np.array([0.5]), np.array([-0.9]), EPISODES) == relevance(
        np.array([0.5]), np.array([0.0]), EPISODES
    )


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_a_rarer_term_says_more(one, other):
    few, many = sorted((one, other))
    assert rarity(few, 1000) >= rarity(many, 1000) >= 0


@given(st.floats(1, 50), st.floats(1, 50), st.floats(1, 200))
def test_repeating_a_term_adds_ever_less(frequency, length, usual):
    times = saturated(np.array([frequency, frequency + 1, frequency + 2]), np.full(3, length), usual)
    assert times[1] - times[0] >= times[2] - times[1] >= 0


def test_weights_of_nothing_leave_no_order_but_the_given_one():
    none = replace(EPISODES, by_user=0, recent=0, useful=0)
    assert best(signals(dense=[0.5] * 4, age_s=[4, 3, 2, 1]), 4, none) == [0, 1, 2, 3]
