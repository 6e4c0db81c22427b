import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, Appraisal, UserEmotion
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import MBTI_TYPES, traits_of
from soulgraph.soul.population import Population

NOW = 1.7e9

units = st.floats(0.0, 1.0)
lives = st.tuples(
    st.sampled_from(MBTI_TYPES),
    st.lists(st.tuples(st.floats(0.0, 1e5), st.sampled_from(EMOTIONS), st.floats(0.0, 1.0), units), max_size=12),
)


def grown(mbti, history):
    traits = traits_of(mbti)
    state = born(traits, NOW)
    for pause, emotion, intensity, hostility in history:
        felt = UserEmotion(emotion, *PROTOTYPES[emotion], intensity, appraisal=Appraisal(1.0, hostility))
        state = impact(traits, state, felt, state.updated_at + pause)
    return traits, state


def assert_same(one, other):
    a = one.to_dict()
    b = other.to_dict()
    assert a.pop("lock_until") == b.pop("lock_until")
    assert a.pop("drift") == pytest.approx(b.pop("drift"), abs=1e-9)
    assert a == pytest.approx(b, abs=1e-9, rel=0)


@settings(max_examples=40, deadline=None)
@given(st.lists(lives, max_size=6), st.lists(st.floats(-1e4, 1e6), min_size=1, max_size=4))
def test_a_population_moves_exactly_like_its_souls_one_by_one(lives, gaps):
    souls = [grown(*life) for life in lives]
    population, states, now = Population.of(souls), [state for _, state in souls], NOW
    for gap in gaps:
        now += gap
        population = population.evolve(now)
        states = [evolve(traits, state, now) for (traits, _), state in zip(souls, states, strict=True)]
    for many, one in zip(population.states(), states, strict=True):
        assert_same(many, one)


def test_a_lock_comes_through_and_opens_on_time():
    traits, state = grown("INFP", [(8.0, "anger", 0.9, 1.0)] * 4)
    population = Population.of([(traits, state)])
    assert population.states() == [state]
    assert population.evolve(state.lock_until - 1.0).states()[0].lock_until == state.lock_until
    assert population.evolve(state.lock_until).states()[0].lock_until is None


def test_evolving_leaves_the_population_it_started_from_untouched():
    traits, state = grown("ENFP", [(8.0, "joy", 0.9, 0.0)])
    population = Population.of([(traits, state)])
    population.evolve(NOW + 500.0)
    assert population.states() == [state]


def test_nobody_is_a_population_too():
    assert Population.of([]).evolve(NOW).states() == []


def test_overridden_constants_reach_every_soul():
    traits, state = grown("ENFP", [])
    slow = DEFAULT.override({"tau_up": 5000.0})
    (many,) = Population.of([(traits, state)]).evolve(NOW + 500.0, slow).states()
    assert_same(many, evolve(traits, state, NOW + 500.0, slow))


def test_a_moment_that_is_no_number_is_refused():
    with pytest.raises(InvalidInput, match="now"):
        Population.of([]).evolve(np.nan)
