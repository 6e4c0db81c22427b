"""The compact emotion: its size in every state, and when it is news."""

import json
from dataclasses import replace
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.dynamics import born
from soulgraph.soul.emotions import EMOTIONS, EmotionState, UserEmotion
from soulgraph.soul.gate import Gate, GateReason, judge
from soulgraph.soul.impact import impact
from soulgraph.soul.mood import _POINTS
from soulgraph.soul.personality import Traits
from soulgraph.terminals import topics
from soulgraph.terminals.compact_emotion import (
    MAX_ID_LENGTH,
    MAX_PACKET_BYTES,
    CompactEmotion,
    Feeling,
    ToldEmotions,
)

NOW = 1_790_000_000.0
_UNIT, _SIGNED = st.floats(0, 1), st.floats(-1, 1)
_TRAITS = st.builds(Traits, *[_UNIT] * 5)
_STATES = st.builds(
    EmotionState,
    **dict.fromkeys(("p", "a", "d", "long_mu_p", "long_mu_a", "long_mu_d"), _SIGNED),
    **dict.fromkeys(("boredom", "shock_load", "extreme_memory", "hurt", "sorrow", "worry", "warmth"), _UNIT),
    **dict.fromkeys(("long_volatility", "long_shock", "long_extreme"), _UNIT),
    drift=st.builds(Traits, *[st.floats(-0.3, 0.3)] * 5),
    lock_until=st.none() | st.floats(NOW - 100, NOW + 1000),
    last_interaction_at=st.just(NOW),
    updated_at=st.just(NOW),
)
_IDS = st.text("abcXYZ0189.:@_-", min_size=1, max_size=128)


def packet_bytes(terminal_id, payload):
    """Of a PUBLISH with QoS 1: fixed header, topic with its length, packet id, payload."""
    rest = 2 + len(topics.topic(terminal_id, topics.COMPACT_EMOTION).encode()) + 2 + len(payload)
    return 1 + (1 if rest < 128 else 2) + rest


@given(_TRAITS, _STATES, st.sampled_from([None, *EMOTIONS, "an emotion of another service"]), _IDS)
def test_it_is_small_in_every_state(traits, state, label, terminal_id):
    feeling = Feeling("soul_" + "f" * 32, state, judge(traits, state, NOW), NOW, user_emotion=label)
    payload = CompactEmotion.of(feeling).to_json().encode()
    assert len(payload) < 256
    if len(terminal_id) <= MAX_ID_LENGTH:
        assert packet_bytes(terminal_id, payload) <= MAX_PACKET_BYTES < 256
    assert json.loads(payload)["u" if label in EMOTIONS else "m"]


def test_it_is_small_with_the_longest_of_every_word():
    """Put together by hand: no state has all of it at once."""
    moods = {mood: point.zh for mood, point in _POINTS.items()}
    for (mood, zh), why, label in product(moods.items(), get_args(GateReason), EMOTIONS):
        compact = CompactEmotion.model_construct(
            p=-0.65,
            a=-0.65,
            d=-0.65,
            m=mood,
            s=3,
            z=f"明显{zh}",
            g=0,
            w=why,
            x=0.05,
            l=604_800,
            u=label,
            t=9_999_999_999,
        )
        assert packet_bytes("x" * MAX_ID_LENGTH, compact.to_json().encode()) <= MAX_PACKET_BYTES


def test_it_says_what_the_long_form_says():
    feeling = hurt_feeling()
    compact = json.loads(CompactEmotion.of(feeling).to_json())
    emotion, gate = feeling.emotion, feeling.gate
    assert (compact["p"], compact["a"], compact["d"]) == tuple(round(value, 2) for value in emotion.x)
    assert (compact["m"], compact["s"], compact["z"]) == ("angry", 3, "非常生气")
    assert (compact["g"], compact["w"], compact["l"]) == (0, "hurt", round(gate.lock_remaining_s))
    assert (compact["x"], compact["u"], compact["t"]) == (round(gate.exec_probability, 2), "anger", int(NOW))


def test_a_calm_soul_has_no_reason_and_no_strength():
    traits = Traits(0.5, 0.5, 0.5, 0.5, 0.5)
    state = replace(born(traits, NOW), p=-0.001, a=0.0, d=0.0)
    payload = CompactEmotion.of(Feeling("s", state, judge(traits, state, NOW), NOW)).to_json()
    compact = json.loads(payload)
    assert "-0.0" not in payload
    assert (compact["m"], compact["s"], compact["z"], compact["g"]) == ("calm", 0, "平静", 1)
    assert not compact.keys() & {"w", "u"}


def hurt_feeling(at=NOW, soul_id="soul_1"):
    traits = Traits(0.5, 0.8, 0.2, 0.5, 0.5)
    state = born(traits, at)
    for _ in range(3):
        state = impact(traits, state, UserEmotion("anger", -0.9, 0.9, 0.4, 1.0, 1.0), at)
    return Feeling(soul_id, state, judge(traits, state, at), at, user_emotion="anger")


def later(feeling: Feeling, seconds=3.0, **changes):
    """The same soul after a tick; its lock goes on."""
    at = feeling.at + seconds
    gate: Gate = replace(feeling.gate, lock_remaining_s=max(0.0, feeling.gate.lock_remaining_s - seconds))
    return replace(feeling, emotion=replace(feeling.emotion, updated_at=at, **changes), gate=gate, at=at)


@pytest.fixture
def told():
    told = ToldEmotions()
    assert told.is_news("t", hurt_feeling(), None), "the first is"
    return told


def test_what_cannot_be_seen_is_no_news(told):
    feeling = hurt_feeling()
    for _ in range(20):
        before, feeling = feeling.emotion.updated_at, later(feeling, long_mu_p=feeling.emotion.long_mu_p / 2)
        assert not told.is_news("t", feeling, before)


@pytest.mark.parametrize("change", [{"p": 0.3}, {"hurt": 0.1}, {"boredom": 0.9}])
def test_what_can_be_seen_is_news(told, change):
    assert told.is_news("t", later(hurt_feeling(), **change), NOW)


def test_another_gate_or_soul_is_news(told):
    feeling = later(hurt_feeling())
    assert told.is_news("t", replace(feeling, gate=replace(feeling.gate, exec_probability=0.5)), NOW)
    assert told.is_news("t", replace(later(feeling), soul_id="soul_2"), feeling.emotion.updated_at)


def test_a_lock_that_ends_or_is_prolonged_is_news(told):
    feeling = later(hurt_feeling())
    longer = replace(feeling.gate, lock_remaining_s=feeling.gate.lock_remaining_s + 60)
    assert told.is_news("t", replace(feeling, gate=longer), NOW)
    ended = later(replace(feeling, gate=replace(feeling.gate, locked=False, lock_remaining_s=0.0)))
    assert told.is_news("t", ended, feeling.emotion.updated_at)


def test_whatever_a_turn_or_another_server_did_meanwhile_is_news(told):
    feeling = later(hurt_feeling())
    assert told.is_news("t", feeling, NOW + 1.5), "its state is not the one that was told here"
    assert told.is_news("t", later(feeling), None), "a turn"


def test_a_terminal_that_was_deleted_and_a_broker_that_forgot_are_told_anew(told):
    told.forget("t")
    assert told.is_news("t", later(hurt_feeling()), NOW)
    told.forget_all()
    assert told.is_news("t", later(hurt_feeling(), 6.0), NOW + 3.0)
