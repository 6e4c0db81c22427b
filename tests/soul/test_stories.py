"""Whole conversations and months, and what they do to a soul's gate and traits."""

import pytest

from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.emotions import PROTOTYPES, Appraisal, UserEmotion
from soulgraph.soul.gate import judge
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import MBTI_TYPES, traits_of

DAY = 86400.0


ATTACK = Appraisal(1.0, 0.9)


def user_emotion(emotion, intensity):
    """Anger is meant for the soul, and so are thanks."""
    appraisal = {"anger": ATTACK, "gratitude": Appraisal(1.0, 0.0, 0.9)}.get(emotion)
    return UserEmotion(emotion, *PROTOTYPES[emotion], intensity, appraisal=appraisal)


def talk(mbti, emotions, every=8.0):
    """The gate after each message of a conversation."""
    traits = traits_of(mbti)
    state = born(traits, 0.0)
    for n, emotion in enumerate(emotions):
        state = impact(traits, state, user_emotion(emotion, 0.9), every * n)
        yield judge(traits, state, every * n)


def month(mbti, emotion):
    """Thirty days with one conversation of sixty messages a day."""
    traits = traits_of(mbti)
    state = born(traits, 0.0)
    for day in range(30):
        for n in range(60):
            state = impact(traits, state, user_emotion(emotion, 0.7), day * DAY + 25.0 * n)
    return evolve(traits, state, 30 * DAY)


@pytest.mark.parametrize(("mbti", "blocked_from", "locked_from"), [("INFJ", 2, 3), ("INFP", 2, 3), ("ESTJ", 4, 5)])
def test_insults_every_8_s_block_and_lock_each_character_at_its_message(mbti, blocked_from, locked_from):
    gates = list(talk(mbti, ["anger"] * 8))
    blocked = [n for n, gate in enumerate(gates, 1) if gate.exec_mode == "blocked"]
    locked = [n for n, gate in enumerate(gates, 1) if gate.locked]
    assert blocked == list(range(blocked_from, 9) if blocked_from else [])
    assert locked == list(range(locked_from, 9) if locked_from else [])


def test_the_first_lock_lasts_two_minutes():
    assert list(talk("INFJ", ["anger"] * 3))[-1].lock_remaining_s == 120.0


def test_thanks_after_a_quarrel_open_the_gate_much_sooner():
    *_, sulking = talk("INFJ", ["anger"] * 4 + ["neutral"] * 3)
    *_, soothed = talk("INFJ", ["anger"] * 4 + ["gratitude"] * 3)
    assert soothed.lock_remaining_s < sulking.lock_remaining_s / 4


def test_kindness_never_locks_however_much_of_it():
    assert not any(gate.locked for gate in talk("INFP", ["joy", "gratitude", "excitement"] * 20))


@pytest.mark.parametrize("mbti", MBTI_TYPES)
@pytest.mark.parametrize("ticks", [1, 72])
def test_an_idle_soul_keeps_its_character_and_stays_executable(mbti, ticks):
    traits = traits_of(mbti)
    state = born(traits, 0.0)
    for tick in range(1, ticks + 1):
        state = evolve(traits, state, 3 * DAY * tick / ticks)
        assert judge(traits, state, state.updated_at).exec_mode == "auto_execute"
    assert max(map(abs, state.drift)) < 0.001


def test_a_month_of_thanks_makes_an_infj_warmer():
    assert month("INFJ", "gratitude").drift.empathy == pytest.approx(0.05, abs=0.01)


def test_a_month_of_anger_makes_an_infj_less_stable():
    assert month("INFJ", "anger").drift.stability == pytest.approx(-0.15, abs=0.02)


def test_a_soul_recovers_from_a_bad_month_when_it_is_left_in_peace():
    hurt = month("INFJ", "anger")
    healed = evolve(traits_of("INFJ"), hurt, hurt.updated_at + 60 * DAY)
    assert abs(healed.drift.stability) < abs(hurt.drift.stability) / 4
