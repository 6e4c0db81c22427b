import json
from dataclasses import replace
from math import inf, nan

import pytest

from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.dynamics import born
from soulgraph.soul.emotions import (
    EMOTIONS,
    NEGATIVE,
    POSITIVE,
    PROTOTYPES,
    SOOTHING,
    Appraisal,
    EmotionState,
    Impressions,
    UserEmotion,
    polarity,
)
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import traits_of

INFP = traits_of("INFP")


def user_emotion(emotion, intensity=1.0, appraisal=None):
    return UserEmotion(emotion, *PROTOTYPES[emotion], intensity, appraisal=appraisal)


def locked_state():
    state = born(INFP, 1000.0)
    for _ in range(4):
        state = impact(INFP, state, user_emotion("anger", appraisal=Appraisal(1.0, 1.0)), 1000.0)
    return state


def test_there_are_fifteen_labels_and_the_sets_are_among_them():
    assert len(EMOTIONS) == 15
    assert SOOTHING < POSITIVE
    assert not NEGATIVE & POSITIVE
    assert set(EMOTIONS) == NEGATIVE | POSITIVE | {"neutral", "surprise"}


@pytest.mark.parametrize(
    ("emotion", "intensity", "expected"),
    [
        ("anger", 1.0, (0.70 * 0.60 + 0.20 * 0.75 + 0.16, 0.0)),
        ("fear", 0.5, ((0.70 * 0.70 + 0.20 * 0.70 + 0.10 * 0.60 + 0.16) / 2, 0.0)),
        ("relief", 1.0, (0.0, 0.72 * 0.50 + 0.18 * 0.20 + 0.10 * 0.30 + 0.14)),
        ("surprise", 1.0, (0.0, 0.72 * 0.10)),
        ("neutral", 1.0, (0.0, 0.0)),
    ],
)
def test_polarity_weighs_pad_and_label_and_scales_with_intensity(emotion, intensity, expected):
    assert polarity(user_emotion(emotion, intensity), DEFAULT) == pytest.approx(expected)


def test_a_recognisers_nonsense_is_brought_within_bounds():
    nonsense = UserEmotion("joy", nan, inf, -7.0, 3.0, nan)
    assert nonsense.sane() == UserEmotion("joy", 0.0, 1.0, -1.0, 1.0, 0.0)


def test_nonsense_in_an_appraisal_is_brought_within_bounds_too():
    nonsense = user_emotion("joy", appraisal=Appraisal(nan, 7.0, -1.0, ("why",)))
    assert nonsense.sane().appraised == Appraisal(0.0, 1.0, 0.0, ("why",))


@pytest.mark.parametrize("label", EMOTIONS)
def test_a_recogniser_without_appraisal_is_taken_to_mean_the_soul_with_half_of_its_anger(label):
    assert user_emotion(label).appraised.hostility == (0.5 if label in ("anger", "disgust") else 0.0)
    assert user_emotion(label).appraised.repair == 0.0


def test_an_emotion_survives_json_with_its_appraisal():
    told = user_emotion("anger", appraisal=Appraisal(1.0, 0.9, 0.1, ("insult: 废物",)))
    assert UserEmotion.from_dict(json.loads(json.dumps(told.to_dict()))) == told


def test_an_emotion_stored_before_there_were_appraisals_can_be_read():
    stored = {"emotion": "anger", "p": -0.6, "a": 0.75, "d": 0.25, "intensity": 0.9, "confidence": None}
    assert UserEmotion.from_dict(stored) == user_emotion("anger", 0.9)


def test_a_state_of_the_second_model_is_read_without_impressions():
    stored = {name: value for name, value in locked_state().to_dict().items() if name not in Impressions._fields}
    assert EmotionState.from_dict(stored) == replace(locked_state(), hurt=0.0, sorrow=0.0, worry=0.0, warmth=0.0)


def test_a_state_survives_json():
    state = locked_state()
    assert state.lock_until is not None
    assert EmotionState.from_dict(json.loads(json.dumps(state.to_dict()))) == state


def test_the_published_names_are_all_there():
    assert {"p", "a", "d", "boredom", "shock_load", "extreme_memory", "lock_until"} <= set(locked_state().to_dict())
    assert set(locked_state().to_dict()["drift"]) == set(INFP._fields)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("p", nan),
        ("p", 1.01),
        ("a", "0.1"),
        ("boredom", -0.1),
        ("hurt", 1.1),
        ("shock_load", None),
        ("long_mu_d", -inf),
        ("updated_at", inf),
        ("lock_until", nan),
        ("last_interaction_at", True),
    ],
)
def test_a_bad_entry_is_refused_by_name(name, value):
    with pytest.raises(InvalidInput, match=name):
        EmotionState.from_dict(locked_state().to_dict() | {name: value})


@pytest.mark.parametrize("data", [None, {}, {"p": 0.0}, locked_state().to_dict() | {"mood": "fine"}])
def test_a_state_has_exactly_its_entries(data):
    with pytest.raises(InvalidInput, match="exactly"):
        EmotionState.from_dict(data)


def test_bad_drift_is_refused():
    data = locked_state().to_dict()
    with pytest.raises(InvalidInput, match="empathy"):
        EmotionState.from_dict(data | {"drift": data["drift"] | {"empathy": nan}})
