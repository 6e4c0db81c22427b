"""The result must not depend on the step: one gap, ticks, random splits and a fine solution agree."""

from dataclasses import replace
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, Appraisal, EmotionState, UserEmotion
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import MBTI_TYPES, Traits, traits_of
from soulgraph.soul.population import Population

DAY = 86400.0
X_BORED = np.array([[-0.35], [-0.45], [-0.15]])

units = st.floats(0.0, 1.0)
felt = st.builds(
    lambda emotion, intensity, hostility, repair: UserEmotion(
        emotion, *PROTOTYPES[emotion], intensity, appraisal=Appraisal(1.0, hostility, repair)
    ),
    st.sampled_from(EMOTIONS),
    st.floats(0.1, 1.0),
    units,
    units,
)


def numbers(state):
    """The vitals as an array: p a d b s m, the four impressions, the six long-term statistics, the five drifts."""
    return np.array([getattr(state, name) for name in EmotionState.__slots__[:16]] + list(state.drift))


def assert_agree(one, other, within=0.01):
    error = np.abs(one - other)
    assert error[:10].max() < within
    assert error[16:].max() < 0.002


def x_neutral(traits):
    em, _, st, ex, do = traits - 0.5
    return np.array([0.25 * em + 0.15 * st, 0.20 * ex - 0.10 * st, 0.50 * do])


def slope(base, y, bored):
    """The equations themselves, for many souls as columns; `bored` says who is past the four minutes."""
    x, b, s, m, impressions, long, drift = y[:3], y[3], y[4], y[5], y[6:10], y[10:16], y[16:]
    traits = np.clip(base + drift, 0, 1)
    _, se, st, _, _ = traits
    tau_up = np.maximum(30, 900 * (1 + 0.6 * st - 0.7 * se))
    tau_s = np.maximum(12, 120 * (1 + 0.9 * se - 0.8 * st))
    tau_m = np.clip(360 * (1 + 0.85 * se - 0.95 * st + 0.35 * s), 90, 1200)
    rate = 0.009 * (0.5 + st) / (1 + 1.5 * s)
    past = long - np.concatenate([x_neutral(base), np.zeros_like(x)])
    p, a, d, vol, ls, lm = past
    q = np.array(
        [
            0.72 * p - 0.36 * vol - 0.18 * lm,
            0.36 * a + 0.36 * vol + 0.18 * lm,
            0.38 * p - 0.38 * vol - 0.19 * ls,
            0.36 * p + 0.3 * a,
            0.55 * d - 0.18 * ls,
        ]
    )
    return np.concatenate(
        [
            rate * ((1 - b) * x_neutral(traits) + b * X_BORED - x),
            [bored * (1 - b) / tau_up, -s / tau_s, (np.abs(x).max(0) - m) / tau_m],
            -impressions / 360,
            -past / (14 * DAY),
            (0.22 * np.clip(q, -1, 1) - drift) / (3 * DAY),
        ]
    )


def fine_solution(base, y, grace, moments):
    """Runge-Kutta in small steps; yields the numbers at each moment."""
    now = 0.0
    for moment in moments:
        while now < moment:
            h = 0.5 if now < 600 else 2.0
            bored = now >= grace
            k1 = slope(base, y, bored)
            k2 = slope(base, y + h / 2 * k1, bored)
            k3 = slope(base, y + h / 2 * k2, bored)
            k4 = slope(base, y + h * k3, bored)
            y, now = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), now + h
        yield moment, y


def souls_far_from_rest(count):
    """Any character in any condition; some are still in conversation."""
    rng = np.random.default_rng(7)
    for _ in range(count):
        x = rng.uniform(-1, 1, 3)
        slow = rng.uniform(0, 1, 7)
        mu = rng.uniform(-1, 1, 3)
        drift = rng.uniform(-0.22, 0.22, 5)
        past = rng.uniform(0, 0.5, 3)
        talked = -float(rng.choice([0, 8, 240, 600]))
        traits = Traits(*map(float, rng.uniform(0, 1, 5)))
        yield traits, EmotionState(*map(float, [*x, *slow, *mu, *past]), Traits(*map(float, drift)), None, talked, 0.0)


def test_one_gap_and_ticks_of_3_s_follow_the_fine_solution_for_two_hours():
    souls = list(souls_far_from_rest(80))
    base = np.array([traits for traits, _ in souls]).T
    start = np.array([numbers(state) for _, state in souls]).T
    grace = np.array([state.last_interaction_at + 240 for _, state in souls])
    at_birth = ticked = Population.of(souls)
    now = 0.0
    for moment, truth in fine_solution(base, start, grace, (3, 12, 30, 60, 150, 300, 900, 1800, 7200)):
        while now < moment:
            now += 3.0
            ticked = ticked.evolve(now)
        for jumped, stepped, true in zip(at_birth.evolve(moment).states(), ticked.states(), truth.T, strict=True):
            assert_agree(numbers(jumped), true, within=0.003)
            assert_agree(numbers(stepped), true, within=0.001)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(MBTI_TYPES),
    st.lists(st.tuples(st.floats(0.0, 3600.0), felt), max_size=20),
    st.floats(0.0, log(30 * DAY)),
    st.lists(st.floats(0.0, 1.0), max_size=20),
)
def test_a_gap_of_up_to_30_days_may_be_split_anywhere(mbti, history, log_gap, cuts):
    traits = traits_of(mbti)
    gap = float(np.exp(log_gap))
    state = born(traits, 0.0)
    for pause, emotion in history:
        state = impact(traits, state, emotion, state.updated_at + pause)
    start, split = state.updated_at, state
    for cut in [*sorted(cuts), 1.0]:
        split = evolve(traits, split, start + gap * cut)
    assert_agree(numbers(split), numbers(evolve(traits, state, start + gap)))


@settings(max_examples=8, deadline=None)
@given(st.sampled_from(MBTI_TYPES), st.lists(felt, min_size=1, max_size=8))
def test_two_hours_are_two_hours_in_one_gap_or_in_2400_ticks(mbti, words):
    traits = traits_of(mbti)
    state = born(traits, 0.0)
    for n, emotion in enumerate(words):
        state = impact(traits, state, emotion, 8.0 * n)
    start, ticked = state.updated_at, state
    for tick in range(1, 2401):
        ticked = evolve(traits, ticked, start + 3.0 * tick)
    assert_agree(numbers(ticked), numbers(evolve(traits, state, start + 7200.0)))


def test_drift_pursues_what_the_past_asks_while_the_past_fades():
    traits = traits_of("INFJ")
    lived = replace(born(traits, 0.0), long_mu_p=-1.0, long_mu_a=0.5, long_volatility=1.0, long_shock=1.0)
    base = np.array([traits]).T
    y = np.array([numbers(lived)]).T
    y[:10] = numbers(evolve(traits, lived, DAY))[:10, None]
    for _ in range(10 * 24 * 6):
        y[10:] += 600.0 * slope(base, y, np.ones(1))[10:]
    later = evolve(traits, lived, 10 * DAY)
    assert later.drift.stability < -0.1
    assert numbers(later)[10:] == pytest.approx(y[10:, 0], abs=0.001)
