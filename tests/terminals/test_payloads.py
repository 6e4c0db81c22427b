"""Payloads: the fields of the protocol, no more and no fewer, and always JSON."""

import json

import pytest
from pydantic import ValidationError

from soulgraph.errors import InvalidInput
from soulgraph.soul.dynamics import born
from soulgraph.soul.personality import Traits
from soulgraph.terminals.payloads import EmotionUpdate, IntentAction, IntentCall

FEELING = born(Traits(0.1, 0.2, 0.3, 0.4, 0.5), 100.0).to_dict()
UPDATE = {
    "session_id": "sess_1",
    "terminal_id": "lamp-1",
    "soul_id": "soul_1",
    "user_emotion": {"emotion": "joy", "p": 0.8, "a": 0.5, "d": 0.4, "intensity": 0.7, "confidence": 0.9},
    "soul_emotion": FEELING,
    "exec_probability": 0.75,
    "exec_mode": "auto_execute",
    "gate": {
        "exec_mode": "blocked",
        "reason": "hurt",
        "why": "hurt by what was said",
        "helps": "an apology or a kind word",
        "lock_remaining_s": 60.0,
    },
    "ts": 100.5,
}
ACTION = {
    "request_id": "req_1",
    "session_id": "sess_1",
    "terminal_id": "lamp-1",
    "soul_id": "soul_1",
    "intents": [
        {"intent_id": "light_on", "intent_name": "开灯", "confidence": 0.8, "parameters": {"room": "客厅", "at": None}}
    ],
    "exec_probability": 0.75,
    "ts": 100.5,
}


@pytest.mark.parametrize(("model", "fields"), [(EmotionUpdate, UPDATE), (IntentAction, ACTION)])
def test_a_payload_is_sent_exactly_as_it_was_given(model, fields):
    assert json.loads(model(**fields).to_json()) == fields


def test_the_user_emotion_is_left_out_when_nobody_spoke():
    quiet = {name: value for name, value in UPDATE.items() if name != "user_emotion"}
    assert json.loads(EmotionUpdate(**quiet).to_json()) == quiet


@pytest.mark.parametrize(("model", "fields"), [(EmotionUpdate, UPDATE), (IntentAction, ACTION)])
def test_every_field_but_the_user_emotion_is_needed_and_no_other_is_known(model, fields):
    for missing in set(fields) - {"user_emotion"}:
        with pytest.raises(ValidationError, match=missing):
            model(**{name: value for name, value in fields.items() if name != missing})
    with pytest.raises(ValidationError, match="mood"):
        model(**fields, mood="fine")


@pytest.mark.parametrize(
    "wrong",
    [
        {"exec_probability": 1.5},
        {"exec_probability": float("nan")},
        {"exec_mode": "maybe"},
        {"ts": float("inf")},
        {"soul_emotion": {"p": float("nan")}},
        {"soul_emotion": {"drift": Traits(0, 0, 0, 0, 0)}},
    ],
)
def test_what_json_cannot_carry_or_the_gate_cannot_say_is_refused(wrong):
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        EmotionUpdate(**{**UPDATE, **wrong})


@pytest.mark.parametrize(("model", "fields"), [(EmotionUpdate, UPDATE), (IntentAction, ACTION)])
def test_a_terminal_that_has_no_topic_is_refused_before_anything_is_sent(model, fields):
    with pytest.raises(InvalidInput):
        model(**{**fields, "terminal_id": "a/#"})


def test_an_action_without_intents_is_none():
    with pytest.raises(ValidationError, match="intents"):
        IntentAction(**{**ACTION, "intents": []})


def test_an_intent_carries_only_what_the_terminal_needs():
    with pytest.raises(ValidationError, match="why"):
        IntentCall(**ACTION["intents"][0], why="matched 开灯")


def test_an_update_does_not_follow_later_changes_of_what_it_was_made_from():
    feeling = dict(FEELING)
    update = EmotionUpdate(**{**UPDATE, "soul_emotion": feeling})
    feeling["p"] = 0.123
    assert update.soul_emotion == FEELING
