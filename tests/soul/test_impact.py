"""What one sentence does to a soul: hurt, shared feeling and relief, each with its weight."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.soul.dynamics import born
from soulgraph.soul.emotions import EMOTIONS, NEGATIVE, PROTOTYPES, Appraisal, UserEmotion
from soulgraph.soul.gate import judge
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import MBTI_TYPES, Traits, traits_of

INFJ = traits_of("INFJ")
K_INFJ = 0.80 * (0.5 + 0.67) * (0.5 + 0.47) / (0.7 + 0.51)
REST = np.array((0.044, -0.029, -0.085))

units = st.floats(0.0, 1.0)


def said(emotion, intensity=0.9, confidence=None, hostility=0.0, repair=0.0):
    return UserEmotion(emotion, *PROTOTYPES[emotion], intensity, confidence, Appraisal(1.0, hostility, repair))


def x_of(state):
    return np.array(state.x)


def displacement(traits, before, emotion):
    return x_of(impact(traits, before, emotion, 0.0)) - x_of(before)


def test_shared_joy_pulls_the_mood_towards_the_users_own_by_confidence_intensity_and_character():
    struck = impact(INFJ, born(INFJ, 0.0), said("gratitude", 0.5, confidence=0.6), 0.0)
    way = 0.80 * np.array(PROTOTYPES["gratitude"]) - REST
    assert x_of(struck) == pytest.approx(REST + 0.6 * 0.5 * K_INFJ * way)
    assert struck.long_mu_p == pytest.approx(0.044 + 0.03 * (struck.p - 0.044))


def test_shared_suffering_is_damped_by_what_empathy_leaves_of_it():
    struck = impact(INFJ, born(INFJ, 0.0), said("sadness", 0.5, confidence=0.6), 0.0)
    way = (0.42 + 0.35 * 0.67) * np.array(PROTOTYPES["sadness"]) - REST
    assert x_of(struck) == pytest.approx(REST + 0.6 * 0.5 * K_INFJ * way)


def test_more_empathy_shares_more():
    cold, warm = (displacement(INFJ._replace(empathy=em), born(INFJ, 0.0), said("sadness")) for em in (0.2, 0.9))
    assert warm[0] < cold[0]


def test_an_attack_hurts_by_hostility_and_character_whatever_its_tone():
    cold = impact(INFJ, born(INFJ, 0.0), said("neutral", 0.0, hostility=0.8), 0.0)
    attack = np.array((-0.65, 0.40, 0.60 * (0.33 - 0.5)))
    assert x_of(cold) == pytest.approx(REST + 0.85 * K_INFJ * attack)


@pytest.mark.parametrize(("mbti", "sign"), [("INFP", -1), ("ESTJ", 1)])
def test_the_low_in_dominance_shrink_and_the_high_bristle(mbti, sign):
    traits = traits_of(mbti)
    assert np.sign(displacement(traits, born(traits, 0.0), said("anger", hostility=1.0))[2]) == sign


def test_traces_of_hostility_count_as_none():
    assert impact(INFJ, born(INFJ, 0.0), said("neutral", hostility=0.2), 0.0) == impact(
        INFJ, born(INFJ, 0.0), said("neutral"), 0.0
    )


def test_an_apology_relieves_whatever_guilt_it_carries():
    hurt = replace(born(INFJ, 0.0), p=-0.8, a=0.7, shock_load=0.8, hurt=0.9)
    soothed = impact(INFJ, hurt, said("sadness", 1.0, 1.0, repair=0.9), 0.0)
    assert soothed.p > hurt.p + 0.3
    assert soothed.a < hurt.a
    assert soothed.shock_load < hurt.shock_load
    assert soothed.hurt < hurt.hurt
    assert soothed.sorrow == 0.0


def test_suffering_does_not_lift_a_mood_that_is_lower_still():
    low = replace(born(INFJ, 0.0), p=-0.9)
    assert impact(INFJ, low, said("sadness", 1.0, 1.0), 0.0).p == -0.9


def test_in_sorrow_a_first_laugh_moves_less():
    grieving = replace(born(INFJ, 0.0), sorrow=1.0)
    believed, doubted = (displacement(INFJ, before, said("joy"))[0] for before in (born(INFJ, 0.0), grieving))
    assert doubted == pytest.approx(believed / 2)


def test_attacks_weigh_on_the_shock_load_suffering_a_third_of_it_and_joy_next_to_nothing():
    far = Traits(0.5, 0.9, 0.1, 0.5, 0.5)
    loads = {
        name: impact(far, born(far, 0.0), emotion, 0.0).shock_load / (size(far, emotion) - 0.10)
        for name, emotion in {
            "attack": said("anger", 1.0, 1.0, hostility=1.0),
            "grief": said("fear", 1.0, 1.0),
            "joy": said("excitement", 1.0, 1.0),
        }.items()
    }
    assert loads == pytest.approx({"attack": 1.0, "grief": 0.33, "joy": 0.05})


def size(traits, emotion):
    return float(np.linalg.norm(displacement(traits, born(traits, 0.0), emotion)))


@settings(max_examples=150, deadline=None)
@given(
    st.builds(Traits, units, units, units, units, units),
    st.tuples(*[st.floats(-1.0, 1.0)] * 3),
    st.sampled_from(EMOTIONS),
    *[units] * 4,
)
def test_one_sentence_never_moves_the_mood_further_than_the_euclidean_limit(traits, x, label, much, sure, h, r):
    before = replace(born(traits, 0.0), p=x[0], a=x[1], d=x[2])
    assert np.linalg.norm(displacement(traits, before, said(label, much, sure, h, r))) <= 0.55 + 1e-9


def test_an_interaction_teaches_three_percent_of_each_long_statistic():
    before = replace(born(INFJ, 0.0), extreme_memory=0.6, long_volatility=0.2)
    insult = said("anger", hostility=1.0)
    struck = impact(INFJ, before, insult, 0.0)
    moved = np.linalg.norm(x_of(struck) - x_of(before))
    assert struck.long_volatility == pytest.approx(0.2 + 0.03 * (moved - 0.17 - 0.2))
    assert struck.long_shock == pytest.approx(0.03 * struck.shock_load)
    assert struck.long_extreme == pytest.approx(0.03 * (0.6 - 0.085))


def test_a_recogniser_without_confidence_counts_its_intensity():
    assert impact(INFJ, born(INFJ, 0.0), said("joy", 0.5), 0.0) == impact(
        INFJ, born(INFJ, 0.0), said("joy", 0.5, confidence=0.5), 0.0
    )


@pytest.mark.parametrize(
    ("emotion", "impression"),
    [
        (said("anger", hostility=1.0), "hurt"),
        (said("sadness"), "sorrow"),
        (said("fear"), "worry"),
        (said("anger"), "worry"),
        (said("joy"), "warmth"),
        (said("neutral", repair=0.9), "warmth"),
    ],
)
def test_what_happened_is_remembered_for_a_while(emotion, impression):
    state = impact(INFJ, born(INFJ, 0.0), emotion, 0.0)
    assert max(state.impressions._fields, key=lambda name: getattr(state, name)) == impression
    assert getattr(state, impression) > 0.3


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(MBTI_TYPES),
    st.lists(st.tuples(st.sampled_from(sorted(NEGATIVE)), units, units, st.floats(1.0, 120.0)), max_size=40),
)
def test_no_suffering_of_the_users_ever_locks_or_closes_the_gate(mbti, sentences):
    traits = traits_of(mbti)
    state = born(traits, 0.0)
    for label, much, sure, gap in sentences:
        state = impact(traits, state, said(label, much, sure), state.updated_at + gap)
        gate = judge(traits, state, state.updated_at)
        assert (gate.exec_mode, gate.locked) == ("auto_execute", False)
