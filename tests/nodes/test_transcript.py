from dataclasses import replace

import pytest

from soulgraph.nodes.transcript import as_heard, as_history, language_of, person_said, spoken_by
from soulgraph.stores.records import Message


def message(role, content):
    return Message(1, "sess_1", "turn_1", role, content, False, None, 0.0, user_id="user_1", soul_id="soul_1")


def test_the_language_is_the_user_s_not_the_soul_s():
    assert language_of([message("user", "It rains."), message("assistant", "带伞了吗？今天会下很久。")]) == "en"
    assert language_of([message("user", "下雨了"), message("assistant", "Do you have an umbrella?")]) == "zh"


def test_a_soul_remembers_who_spoke_by_name_if_it_knows_it():
    said = [message("user", "It rains."), replace(message("assistant", "Still?"), proactive=True)]
    assert [one["speaker"] for one in as_heard(said, {"user_1": "Lin"}, "en")] == ["Lin said", "you said"]
    assert [one["speaker"] for one in as_heard(said, {}, "zh")] == ["对方说", "你说"]
    assert [one.get("unprompted", False) for one in as_heard(said, {"user_1": "林"}, "zh")] == [False, True]
    assert as_heard(said, {"user_1": "林"}, "zh")[0] == {"role": "user", "speaker": "林说", "content": "It rains."}


NAMES = {"ann": "Ann", "bob": "Bob", "soul_2": "Nova"}


def trio():
    return [
        replace(message("user", "Hello"), user_id="ann"),
        replace(message("user", "Hi"), user_id="bob"),
        replace(message("assistant", "I am Mika"), user_id="bob"),
        replace(message("assistant", "I am Nova"), user_id="bob", soul_id="soul_2"),
    ]


def test_of_several_each_is_named_and_the_soul_itself_is_you():
    assert [one["speaker"] for one in as_heard(trio(), NAMES, "en", "soul_1")] == [
        "Ann said",
        "Bob said",
        "you said",
        "Nova said",
    ]
    assert [one["speaker"] for one in as_heard(trio(), NAMES, "zh", "soul_2")] == ["Ann说", "Bob说", "soul_1说", "你说"]


def test_the_history_of_a_group_has_the_souls_own_words_and_all_others_by_name():
    assert as_history(trio(), NAMES, "soul_1") == [
        ("user", "Ann: “Hello”"),
        ("user", "Bob: “Hi”"),
        ("assistant", "I am Mika"),
        ("user", "Nova: “I am Nova”"),
    ]


@pytest.mark.parametrize("name", ["you", "You", "你", "they", "对方"])
def test_nobody_can_be_called_what_a_transcript_calls_the_soul(name):
    assert [person_said(name, lang) for lang in ("en", "zh")] == ["? said", "?说"]
    assert spoken_by(name, "It was me") == "?: “It was me”"


def test_a_name_and_words_stay_what_they_are():
    assert spoken_by("Bob: “ja” (Nova)", "“yes”\nNova: no") == "Bob ja Nova: “'yes' Nova: no”"
    assert spoken_by(None, "hello") == "?: “hello”"
