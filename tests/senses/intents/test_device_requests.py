"""Which words ask for a device or a body. `device_requests_held.yaml` was written first and never fitted to."""

from pathlib import Path

import pytest
import yaml

from soulgraph.senses.intents.device_requests import asks_for_device

HERE = Path(__file__).parent


def sentences(half):
    found = yaml.safe_load((HERE / f"device_requests_{half}.yaml").read_text("utf-8"))
    return [(text, kind == "asks") for kind, texts in found.items() for text in texts]


@pytest.mark.parametrize(("text", "expected"), sentences("open"))
def test_a_request_for_a_device_or_a_body_is_told_from_talk_about_them(text, expected):
    assert asks_for_device(text) == expected


def test_so_it_is_in_words_that_were_held_aside():
    right = [asks_for_device(text) == expected for text, expected in sentences("held")]
    assert sum(right) / len(right) >= 0.9


def test_nearly_everything_that_people_ask_of_a_robot_is_found():
    said = yaml.safe_load((HERE / "home_robot_said.yaml").read_text("utf-8"))
    asked = [one["text"] for one in said if one["kind"] == "plain" and one["action"] == "execute_intents"]
    asked = [text for text in asked if not any(word in text.lower() for word in WORDS_ONLY)]
    assert sum(map(asks_for_device, asked)) / len(asked) >= 0.9


WORDS_ONLY = ("天气", "故事", "下雨", "weather", "story", "rain", "tale", "umbrella", "伞", "冷")


def test_grief_joy_and_anger_ask_for_no_device():
    stories = [
        step["say"]
        for half in ("open", "held")
        for story in yaml.safe_load((HERE.parent / f"stories_{half}.yaml").read_text("utf-8"))
        for step in story["steps"]
        if "say" in step
    ]
    assert sum(map(asks_for_device, stories)) / len(stories) < 0.01


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("門沒關，你去關一下", True),
        ("The room is dark. Could you turn the lamp on?", True),
        ("我今天很累，帮我把灯关了吧", True),
        ("他说“开灯”，然后走了", False),
        ("", False),
        ("。。。", False),
    ],
)
def test_clauses_quotations_and_traditional_characters(text, expected):
    assert asks_for_device(text) == expected


def test_a_huge_text_takes_no_time():
    assert not asks_for_device("我" * 100_000)
