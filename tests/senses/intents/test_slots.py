"""Filling slots from words, and asking for what is missing; it is Monday, 16 November 2026, 15:30."""

import json
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.senses.intents.catalog import Intent, Slot
from soulgraph.senses.intents.patterns import RegexBudget
from soulgraph.senses.intents.slots import fill_slots, question

NOW = datetime(2026, 11, 16, 15, 30)


def slot(name: str = "x", **about) -> Slot:
    return Slot.model_validate({"name": name, **about})


def value_in(words: str, **about):
    return fill_slots([slot(**about)], words, NOW).get("x")


@pytest.mark.parametrize(
    ("words", "about", "value"),
    [
        ("定时10分钟", {"regex": r"(\d+)\s*分钟"}, "10"),
        ("play the song Yellow", {"regex": r"play (the song )?(?P<x>.+)"}, "Yellow"),
        ("音量", {"regex": r"音量(\d+)?"}, None),
        ("音量", {"regex": r"音量"}, "音量"),
        ("打开卧室的灯", {"values": ["客厅", "卧室"]}, "卧室"),
        ("the Living  Room light", {"values": ["room", "living room"]}, "living room"),
        ("切到制冷", {"regex": r"切到(\w+)", "values": ["制冷"]}, "制冷"),
        ("切到唱歌", {"regex": r"切到(\w+)", "values": ["制冷"]}, None),
        ("开灯", {"values": ["客厅", "卧室"]}, None),
        ("随便说说", {}, None),
    ],
)
def test_a_text_is_what_the_regex_captures_or_a_listed_value(words, about, value):
    assert value_in(words, **about) == value


@pytest.mark.parametrize(
    ("words", "type_", "value"),
    [
        ("空调调到二十六度", "number", 26),
        ("set it to minus five", "number", -5),
        ("把二号灯调到百分之三十", "percent", 30),
        ("dim it to half", "percent", 50),
        ("十分钟后提醒我", "duration", 600),
        ("an hour and a half", "duration", 5400),
        ("明早七点叫我", "time", "2026-11-17T07:00:00"),
        ("wake me in ten minutes", "time", "2026-11-16T15:40:00"),
        ("提醒我喝水", "time", None),
        ("提醒我喝水", "duration", None),
        ("开空调", "number", None),
        ("调亮", "percent", None),
    ],
)
def test_without_a_regex_a_type_finds_its_value_anywhere(words, type_, value):
    assert value_in(words, type=type_) == value


@pytest.mark.parametrize(
    ("words", "about", "value"),
    [
        ("二号灯开三十度", {"type": "number", "regex": r"(\w+)号灯"}, 2),
        ("三档风，二十六度", {"type": "number", "regex": r"(\d+)度"}, 26),
        ("三档风", {"type": "number", "regex": r"(\d+)度"}, None),
        ("煮五分钟，焖十分钟", {"type": "duration", "regex": r"焖(\d+)分钟"}, 600),
        ("从七点到八点半", {"type": "time", "regex": r"到(.+)"}, "2026-11-16T20:30:00"),
    ],
)
def test_with_a_regex_a_type_reads_what_it_captures_in_words_or_digits(words, about, value):
    assert value_in(words, **about) == value


@pytest.mark.parametrize(
    ("words", "about", "value"),
    [
        ("调到二十六度", {"type": "number", "min": 16, "max": 30}, 26),
        ("调到十六度", {"type": "number", "min": 16, "max": 30}, 16),
        ("调到六十度", {"type": "number", "min": 16, "max": 30}, None),
        ("零下五度", {"type": "number", "min": 0}, None),
        ("两个小时", {"type": "duration", "max": 3600}, None),
    ],
)
def test_a_number_out_of_range_counts_as_not_said(words, about, value):
    assert value_in(words, **about) == value


def test_each_slot_reads_the_same_words_by_its_own_type():
    slots = [slot("when", type="time"), slot("level", type="percent"), slot("room", values=["卧室"])]
    assert fill_slots(slots, "明晚八点把卧室灯调到三成", NOW) == {
        "when": "2026-11-17T20:00:00",
        "level": 30,
        "room": "卧室",
    }


def test_slots_share_the_patience_of_their_utterance():
    assert fill_slots([slot(regex="(灯)")], "开灯", NOW, RegexBudget(left=0)) == {}
    assert fill_slots([slot(regex="(灯)")], "开灯", NOW) == {"x": "灯"}


@given(st.text(), st.sampled_from(["text", "number", "percent", "duration", "time"]))
def test_no_words_are_too_strange_and_every_value_is_json(words, type_):
    filled = fill_slots([slot(type=type_), slot("y", type=type_, regex="(.+)")], words, NOW)
    assert json.loads(json.dumps(filled, allow_nan=False)) == filled


@pytest.mark.parametrize(
    ("about", "zh", "en"),
    [
        ({}, "“烧水”的x是什么？", 'What is the x for "烧水"?'),
        ({"values": ["低", "高"]}, "“烧水”的x选哪一个：低、高？", 'Which x for "烧水": 低, 高?'),
        ({"type": "number"}, "“烧水”的x是多少？", 'What number is the x for "烧水"?'),
        ({"type": "percent"}, "“烧水”的x是百分之多少？", 'What percentage is the x for "烧水"?'),
        ({"type": "duration"}, "“烧水”要多久？", 'How long for "烧水"?'),
        ({"type": "time"}, "“烧水”要定在几点？", 'What time for "烧水"?'),
        ({"type": "time", "question": "几点要喝？"}, "几点要喝？", "几点要喝？"),
    ],
)
def test_the_question_is_the_catalogs_own_or_fits_the_type(about, zh, en):
    kettle = Intent.model_validate({"id": "kettle", "name": "烧水", "match": {}})
    assert (question(kettle, slot(**about), "zh"), question(kettle, slot(**about), "en")) == (zh, en)
