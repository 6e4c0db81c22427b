from dataclasses import replace

from soulgraph.nodes.transcript import as_heard, language_of
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
