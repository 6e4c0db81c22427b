import json
from dataclasses import replace
from math import exp, inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.errors import InvalidInput
from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, Appraisal, EmotionState, UserEmotion
from soulgraph.soul.gate import judge
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import MBTI_TYPES, Traits, traits_of

INFJ = traits_of("INFJ")
DAY = 86400.0

units = st.floats(0.0, 1.0)
any_traits = st.builds(Traits, units, units, units, units, units)
appraisals = st.none() | st.builds(Appraisal, units, units, units)
messages = st.builds(
    lambda emotion, intensity, appraisal: user_emotion(emotion, intensity, appraisal=appraisal),
    st.sampled_from(EMOTIONS),
    st.floats(0.1, 1.0),
    appraisals,
)
nonsense = st.builds(
    UserEmotion,
    st.text(max_size=3),
    *[st.floats()] * 4,
    confidence=st.none() | st.floats(),
    appraisal=st.none() | st.builds(Appraisal, *[st.floats()] * 3),
)


def user_emotion(emotion, intensity=0.9, confidence=None, appraisal=None):
    return UserEmotion(emotion, *PROTOTYPES[emotion], intensity, confidence, appraisal)


def test_a_soul_is_born_at_rest():
    state = born(INFJ, 5.0)
    assert (state.p, state.a, state.d) == pytest.approx((0.044, -0.029, -0.085))
    assert (state.long_mu_p, state.long_mu_a, state.long_mu_d) == (state.p, state.a, state.d)
    assert state.extreme_memory == pytest.approx(0.085)
    assert (state.boredom, state.shock_load, *state.drift, state.lock_until) == (0, 0, 0, 0, 0, 0, 0, None)
    assert state.updated_at == state.last_interaction_at == 5.0


def test_boredom_begins_four_minutes_after_the_last_interaction_and_then_grows_with_tau_up():
    start = born(INFJ, 0.0)
    tau_up = 900 * (1 + 0.6 * 0.51 - 0.7 * 0.47)
    assert evolve(INFJ, start, 240.0).boredom == 0.0
    assert evolve(INFJ, start, 340.0).boredom == pytest.approx(1 - exp(-100 / tau_up))


def test_a_shock_fades_with_tau_s():
    shaken = replace(born(INFJ, 0.0), shock_load=0.8)
    tau_s = 120 * (1 + 0.9 * 0.47 - 0.8 * 0.51)
    assert evolve(INFJ, shaken, 100.0).shock_load == pytest.approx(0.8 * exp(-100 / tau_s))


def test_an_unshaken_mood_returns_to_rest_with_lambda():
    moved = replace(born(INFJ, 0.0), p=0.9)
    rest = born(INFJ, 0.0).p
    assert evolve(INFJ, moved, 10.0).p == pytest.approx(rest + (0.9 - rest) * exp(-10 * 0.009 * (0.5 + 0.51)))


@pytest.mark.parametrize("mbti", MBTI_TYPES)
@pytest.mark.parametrize("shock", [0.0, 0.7])
def test_a_mood_lasts_for_minutes_and_is_over_after_a_quarter_of_an_hour(mbti, shock):
    traits = traits_of(mbti)
    rest = born(traits, 0.0).p
    moved = replace(born(traits, 0.0), p=rest + 0.6, shock_load=shock)
    assert evolve(traits, moved, 45.0).p > rest + 0.3
    assert evolve(traits, moved, 240.0).p < rest + 0.3
    assert evolve(traits, replace(moved, last_interaction_at=900.0), 900.0).p == pytest.approx(rest, abs=0.03)


def test_impressions_fade_with_their_own_time():
    touched = replace(born(INFJ, 0.0), hurt=0.8, sorrow=0.4, worry=0.2, warmth=1.0)
    assert evolve(INFJ, touched, 360.0).impressions == pytest.approx(tuple(v / np.e for v in (0.8, 0.4, 0.2, 1.0)))


def test_the_long_statistics_fade_in_14_days_to_their_values_at_birth():
    lived = replace(born(INFJ, 0.0), long_mu_p=0.5, long_shock=0.4)
    later = evolve(INFJ, lived, 14 * DAY)
    assert later.long_shock == pytest.approx(0.4 / np.e)
    assert later.long_mu_p == pytest.approx(0.044 + (0.5 - 0.044) / np.e)


def test_company_halves_boredom_and_restarts_its_clock():
    bored = evolve(INFJ, born(INFJ, 0.0), 600.0)
    greeted = impact(INFJ, bored, user_emotion("neutral"), 600.0)
    assert greeted.boredom == bored.boredom / 2
    assert evolve(INFJ, greeted, 840.0).boredom == pytest.approx(greeted.boredom)


def test_a_clock_that_goes_back_stands_still():
    state = impact(INFJ, born(INFJ, 1000.0), user_emotion("anger"), 1000.0)
    assert evolve(INFJ, state, 0.0) == state
    assert impact(INFJ, state, user_emotion("joy"), 0.0) == impact(INFJ, state, user_emotion("joy"), 1000.0)


@pytest.mark.parametrize("now", [nan, inf, -inf, None, "now"])
def test_a_moment_that_is_no_number_is_refused(now):
    with pytest.raises(InvalidInput, match="now"):
        evolve(INFJ, born(INFJ, 0.0), now)


@settings(max_examples=100, deadline=None)
@given(any_traits, st.lists(st.tuples(st.floats(-1e4, 1e7), nonsense | messages), max_size=25))
def test_bounds_hold_for_any_input(traits, inputs):
    now = 1.7e9
    state = born(traits, now)
    for gap, emotion in inputs:
        now += gap
        seen, state = state.updated_at, impact(traits, state, emotion, now)
        assert EmotionState.from_dict(json.loads(json.dumps(state.to_dict()))) == state
        assert state.updated_at >= seen
        assert max(map(abs, state.drift)) <= 0.22
        gate = judge(traits, state, now)
        assert 0.0 <= gate.exec_probability <= 0.95
        assert gate.lock_remaining_s <= 600.0


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(MBTI_TYPES), st.lists(messages, min_size=1, max_size=30), st.floats(5.0, 7200.0))
def test_drift_never_leaves_its_bounds_for_any_history(mbti, habits, pause):
    traits = traits_of(mbti)
    state = born(traits, 0.0)
    for day in range(40):
        for n, emotion in enumerate(habits):
            state = impact(traits, state, emotion, day * DAY + n * pause)
    assert max(map(abs, state.drift)) <= 0.22
