import json
from dataclasses import replace
from math import exp, inf, nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.errors import InvalidInput
from soulgraph.soul.dynamics import EmotionState, UserEmotion, born, evolve, impact
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES
from soulgraph.soul.gate import judge
from soulgraph.soul.personality import MBTI_TYPES, Traits, traits_of

INFJ = traits_of("INFJ")
DAY = 86400.0

units = st.floats(0.0, 1.0)
any_traits = st.builds(Traits, units, units, units, units, units)
messages = st.builds(
    lambda emotion, intensity: user_emotion(emotion, intensity), st.sampled_from(EMOTIONS), st.floats(0.1, 1.0)
)
nonsense = st.builds(UserEmotion, st.text(max_size=3), *[st.floats()] * 4, confidence=st.none() | st.floats())


def user_emotion(emotion, intensity=0.9, confidence=None):
    return UserEmotion(emotion, *PROTOTYPES[emotion], intensity, confidence)


def x_of(state):
    return np.array([state.p, state.a, state.d])


def test_a_soul_is_born_at_rest():
    state = born(INFJ, 5.0)
    assert (state.p, state.a, state.d) == pytest.approx((0.044, -0.029, -0.085))
    assert (state.long_mu_p, state.long_mu_a, state.long_mu_d) == (state.p, state.a, state.d)
    assert state.extreme_memory == pytest.approx(0.085)
    assert (state.boredom, state.shock_load, *state.drift, state.lock_until) == (0, 0, 0, 0, 0, 0, 0, None)
    assert state.updated_at == state.last_interaction_at == 5.0


def test_boredom_begins_18_s_after_the_last_interaction_and_then_grows_with_tau_up():
    start = born(INFJ, 0.0)
    tau_up = 240 * (1 + 0.6 * 0.51 - 0.7 * 0.47)
    assert evolve(INFJ, start, 18.0).boredom == 0.0
    assert evolve(INFJ, start, 118.0).boredom == pytest.approx(1 - exp(-100 / tau_up))


def test_a_shock_fades_with_tau_s():
    shaken = replace(born(INFJ, 0.0), shock_load=0.8)
    tau_s = 120 * (1 + 0.9 * 0.47 - 0.8 * 0.51)
    assert evolve(INFJ, shaken, 100.0).shock_load == pytest.approx(0.8 * exp(-100 / tau_s))


def test_an_unshaken_mood_returns_to_rest_with_lambda():
    moved = replace(born(INFJ, 0.0), p=0.9)
    rest = born(INFJ, 0.0).p
    assert evolve(INFJ, moved, 10.0).p == pytest.approx(rest + (0.9 - rest) * exp(-10 * 0.18 * (0.5 + 0.51)))


def test_the_long_statistics_fade_in_14_days_to_their_values_at_birth():
    lived = replace(born(INFJ, 0.0), long_mu_p=0.5, long_shock=0.4)
    later = evolve(INFJ, lived, 14 * DAY)
    assert later.long_shock == pytest.approx(0.4 / np.e)
    assert later.long_mu_p == pytest.approx(0.044 + (0.5 - 0.044) / np.e)


def test_an_impact_moves_the_mood_by_confidence_intensity_and_character():
    k = 0.80 * (0.5 + 0.67) * (0.5 + 0.47) / (0.7 + 0.51)
    struck = impact(INFJ, born(INFJ, 0.0), user_emotion("gratitude", 0.5, confidence=0.6), 0.0)
    push = 0.6 * 0.5 * k * np.array(PROTOTYPES["gratitude"])
    assert (struck.p, struck.a, struck.d) == pytest.approx(tuple(np.array((0.044, -0.029, -0.085)) + push))
    size = np.sqrt((push**2).mean())
    assert struck.shock_load == pytest.approx(0.4 * (size - 0.08))
    assert struck.long_mu_p == pytest.approx(0.044 + 0.03 * (struck.p - 0.044))


def test_an_interaction_teaches_three_percent_of_each_long_statistic():
    before = replace(born(INFJ, 0.0), extreme_memory=0.6, long_volatility=0.2)
    struck = impact(INFJ, before, user_emotion("anger"), 0.0)
    size = np.sqrt(((x_of(struck) - x_of(before)) ** 2).mean())
    assert struck.long_volatility == pytest.approx(0.2 + 0.03 * (size - 0.10 - 0.2))
    assert struck.long_shock == pytest.approx(0.03 * struck.shock_load)
    assert struck.long_extreme == pytest.approx(0.03 * (0.6 - 0.085))


def test_a_recogniser_without_confidence_counts_its_intensity():
    assert impact(INFJ, born(INFJ, 0.0), user_emotion("joy", 0.5), 0.0) == impact(
        INFJ, born(INFJ, 0.0), user_emotion("joy", 0.5, confidence=0.5), 0.0
    )


def test_one_blow_is_never_larger_than_the_limit():
    tender = Traits(1.0, 1.0, 0.0, 0.5, 0.5)
    before = born(tender, 0.0)
    struck = impact(tender, before, UserEmotion("fear", -1.0, 1.0, -1.0, 1.0), 0.0)
    assert np.sqrt(((x_of(struck) - x_of(before)) ** 2).mean()) == pytest.approx(0.42)
    assert struck.shock_load == pytest.approx(0.42 - 0.08)


def test_company_halves_boredom_and_restarts_its_clock():
    bored = evolve(INFJ, born(INFJ, 0.0), 600.0)
    greeted = impact(INFJ, bored, user_emotion("neutral"), 600.0)
    assert greeted.boredom == bored.boredom / 2
    assert evolve(INFJ, greeted, 618.0).boredom == pytest.approx(greeted.boredom)


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
