from dataclasses import replace
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soulgraph.errors import InvalidInput
from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import EMOTIONS, PROTOTYPES, SOOTHING, Appraisal, UserEmotion
from soulgraph.soul.gate import judge
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import MBTI_TYPES, Traits, traits_of

units = st.floats(0.0, 1.0)
signs = st.floats(-1.0, 1.0)
any_traits = st.builds(Traits, units, units, units, units, units)


def at(traits, x, m=0.0, s=0.0):
    return replace(born(traits, 0.0), p=x[0], a=x[1], d=x[2], extreme_memory=m, shock_load=s)


def locked(traits, seconds, **changes):
    return replace(born(traits, 0.0), lock_until=seconds, **changes)


def user_emotion(emotion, intensity=0.9, hostility=0.0, repair=0.0):
    return UserEmotion(emotion, *PROTOTYPES[emotion], intensity, appraisal=Appraisal(1.0, hostility, repair))


def insult(hostility=1.0, repair=0.0):
    return user_emotion("anger", hostility=hostility, repair=repair)


@pytest.mark.parametrize(
    ("mbti", "threshold", "probabilities"),
    [
        ("INFJ", 0.344, (0.95, 0.919, 0.700, 0.325, 0.169, 0.071)),
        ("INFP", 0.381, (0.95, 0.821, 0.517, 0.193, 0.091, 0.035)),
        ("ESTJ", 0.299, (0.95, 0.948, 0.827, 0.460, 0.261, 0.117)),
    ],
)
def test_the_published_probabilities_and_thresholds(mbti, threshold, probabilities):
    traits = traits_of(mbti)
    for z, expected in zip((0.5, 0.7, 0.8, 0.9, 0.95, 1.0), probabilities, strict=True):
        gate = judge(traits, at(traits, (-z, 0.0, 0.0)), 0.0)
        assert gate.exec_probability == pytest.approx(expected, abs=0.0006)
        assert gate.threshold == pytest.approx(threshold, abs=0.0006)
        assert gate.exec_mode == ("auto_execute" if expected >= threshold else "blocked")


def test_the_gate_carries_its_reasons():
    traits = traits_of("INFJ")
    state = replace(at(traits, (0.1, -0.9, 0.2), m=0.3, s=0.4), lock_until=50.0)
    gate = judge(traits, state, 20.0)
    assert (gate.z, gate.m, gate.s, gate.locked, gate.lock_remaining_s) == (0.9, 0.3, 0.4, True, 30.0)
    assert 0.0 < gate.z_n < 1.0


def test_a_lock_leaves_two_percent_and_ends_on_time():
    traits = traits_of("INFJ")
    state = locked(traits, 100.0)
    closed = judge(traits, state, 99.0)
    opened = judge(traits, state, 100.0)
    assert closed.exec_probability == pytest.approx(0.02 * opened.exec_probability)
    assert (closed.exec_mode, opened.exec_mode) == ("blocked", "auto_execute")
    assert evolve(traits, state, 99.0).lock_until == 100.0
    assert evolve(traits, state, 100.0).lock_until is None


def test_a_moment_that_is_no_number_is_refused():
    with pytest.raises(InvalidInput, match="now"):
        judge(traits_of("INFJ"), locked(traits_of("INFJ"), 100.0), float("nan"))


@settings(max_examples=150, deadline=None)
@given(any_traits, st.tuples(signs, signs, signs), units, units, units, st.sampled_from("zms"))
def test_more_extremity_memory_or_shock_never_raises_the_probability(traits, x, m, s, more, what):
    scale = 1.0 + more if what == "z" else 1.0
    stronger = tuple(max(-1.0, min(1.0, v * scale)) for v in x)
    before = judge(traits, at(traits, x, m, s), 0.0)
    worse = at(traits, stronger, max(m, more) if what == "m" else m, max(s, more) if what == "s" else s)
    after = judge(traits, worse, 0.0)
    assert after.z >= before.z
    assert 0.0 < after.exec_probability <= before.exec_probability <= 0.95


@settings(max_examples=100, deadline=None)
@given(any_traits, st.sampled_from(sorted(SOOTHING)), units, st.floats(0.6, 600.0), units)
def test_soothing_never_lengthens_a_lock_and_takes_a_fifth_to_three_quarters(traits, emotion, much, seconds, s):
    state = locked(traits, seconds, shock_load=s)
    left = judge(traits, impact(traits, state, user_emotion(emotion, much), 0.0), 0.0).lock_remaining_s
    assert left == 0.0 or 0.25 * seconds - 1e-9 <= left <= 0.80 * seconds + 1e-9


@pytest.mark.parametrize("emotion", ["neutral", "sadness"])
def test_what_neither_soothes_nor_triggers_leaves_the_lock_alone(emotion):
    traits = traits_of("ESTJ")
    assert impact(traits, locked(traits, 300.0), user_emotion(emotion), 10.0).lock_until == pytest.approx(300.0)


@settings(max_examples=100, deadline=None)
@given(any_traits, st.sampled_from(EMOTIONS), units, st.floats(0.5, 1.0), st.floats(0.6, 600.0), units)
def test_every_sentence_that_makes_good_takes_a_fifth_to_three_quarters(traits, label, much, repair, seconds, s):
    """Whatever guilt, sorrow or self-reproach it carries."""
    state = locked(traits, seconds, shock_load=s, p=-1.0)
    apology = user_emotion(label, much, hostility=0.4, repair=repair)
    left = judge(traits, impact(traits, state, apology, 0.0), 0.0).lock_remaining_s
    assert left == 0.0 or 0.25 * seconds - 1e-9 <= left <= 0.80 * seconds + 1e-9


@pytest.mark.parametrize("label", ["anger", "sadness", "fear", "disgust", "frustration"])
def test_no_feeling_that_is_not_aimed_at_the_soul_locks_it(label):
    traits = traits_of("INFP")
    extreme = replace(born(traits, 0.0), p=-1.0, shock_load=1.0)
    assert impact(traits, extreme, user_emotion(label, 1.0), 0.0).lock_until is None


def test_mockery_that_laughs_locks_like_any_other():
    traits = traits_of("INFP")
    extreme = replace(born(traits, 0.0), p=-1.0, shock_load=1.0)
    assert impact(traits, extreme, user_emotion("joy", 1.0, hostility=0.8), 0.0).lock_until == 120.0


def test_an_attack_that_is_taken_back_in_the_same_breath_does_not_lock():
    traits = traits_of("INFP")
    extreme = replace(born(traits, 0.0), p=-1.0, shock_load=1.0)
    assert impact(traits, extreme, insult(repair=0.6), 0.0).lock_until is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"lock_until": 60.0, "sorrow": 1.0}, "hurt"),
        ({"p": -1.0, "hurt": 0.6, "sorrow": 0.3}, "overwhelmed_by_hurt"),
        ({"p": -1.0, "hurt": 0.1, "sorrow": 0.6}, "sorrow"),
        ({"p": -1.0, "a": 0.9, "worry": 0.6}, "sorrow"),
        ({"p": 0.9, "a": 1.0, "warmth": 0.9}, "excited"),
        ({"p": -0.2, "a": -0.3, "extreme_memory": 1.0, "shock_load": 0.9}, "tired"),
    ],
)
def test_a_closed_gate_says_why(changes, reason):
    traits = traits_of("INFP")
    gate = judge(traits, replace(born(traits, 0.0), **changes), 0.0)
    assert (gate.exec_mode, gate.reason) == ("blocked", reason)


def test_an_open_gate_has_no_reason():
    traits = traits_of("INFP")
    assert judge(traits, replace(born(traits, 0.0), hurt=1.0), 0.0).reason is None


def test_a_remainder_of_half_a_second_clears_the_lock():
    traits = traits_of("ESTJ")
    assert impact(traits, locked(traits, 0.9), user_emotion("gratitude", 1.0), 0.0).lock_until is None


@pytest.mark.parametrize("mbti", MBTI_TYPES)
def test_repeated_insults_prolong_a_lock_by_18_to_48_s_up_to_600_s(mbti):
    traits = traits_of(mbti)
    state, before = locked(traits, 1.0, shock_load=1.0), 1.0
    for _ in range(40):
        state = impact(traits, replace(state, shock_load=1.0), insult(), 0.0)
        left = judge(traits, state, 0.0).lock_remaining_s
        assert left == 600.0 or 18.0 <= left - before <= 48.0
        assert state.lock_until <= 600.0
        before = left
    assert before == 600.0


def test_a_clock_that_goes_back_never_makes_a_lock_longer():
    traits = traits_of("INFP")
    state = locked(traits, 10_100.0, updated_at=10_000.0)
    assert judge(traits, state, 0.0).lock_remaining_s == 100.0
    assert judge(traits, replace(state, lock_until=99_999.0), 0.0).lock_remaining_s == 600.0


def test_memory_and_shock_weigh_by_character():
    # INFJ: resilience .4784, reactivity .5150
    traits = traits_of("INFJ")
    eta = 0.95 * (0.55 + 0.90 * 0.515 - 0.45 * 0.4784)
    xi = 0.80 * (0.55 + 0.515 - 0.35 * 0.4784)
    gate = judge(traits, at(traits, (0.0, 0.0, 0.0), m=0.4, s=0.5), 0.0)
    assert gate.exec_probability == pytest.approx(0.95 * exp(-0.4 * eta - 0.5 * xi))


def test_a_lock_is_prolonged_by_severity_and_character():
    traits = traits_of("INFJ")
    state = impact(traits, locked(traits, 100.0, shock_load=1.0), insult(), 0.0)
    z = judge(traits, state, 0.0).z
    share = 0.62 * (0.58 * z + 0.42) + 0.38 * (0.55 + 0.75 * 0.515 - 0.35 * 0.4784)
    assert state.lock_until == pytest.approx(100.0 + 18.0 + share * 30.0)


def test_a_lock_is_soothed_by_kindness_and_character():
    traits = traits_of("INFJ")
    pos = 0.5 * (0.72 * 0.50 + 0.18 * 0.20 + 0.10 * 0.30 + 0.14)
    soothe = (pos + 0.20) * (0.75 + 0.5 * (0.55 * 0.67 + 0.45 * 0.51))
    state = impact(traits, locked(traits, 100.0), user_emotion("relief", 0.5), 0.0)
    assert state.lock_until == pytest.approx(100.0 * (1.0 - (0.20 + 0.55 * soothe)))


def test_thanks_in_a_bitter_tone_soothe_less():
    traits = traits_of("INFJ")
    bitter = UserEmotion("anger", 0.6, 0.2, 0.35, 1.0, appraisal=Appraisal(1.0, 0.4))
    neg, pos = 0.4 * 0.4, 0.6 * (0.72 * 0.6 + 0.10 * 0.35)
    soothe = pos * (1.0 - 0.75 * neg) * (0.75 + 0.5 * (0.55 * 0.67 + 0.45 * 0.51))
    left = impact(traits, locked(traits, 100.0), bitter, 0.0).lock_until
    assert left == pytest.approx(100.0 * (1.0 - (0.20 + 0.55 * soothe)))
