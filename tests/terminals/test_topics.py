"""Topics: where a terminal listens, and which ids can have a place there."""

import pytest

from soulgraph.errors import InvalidInput
from soulgraph.terminals import topics

KINDS = {
    "emotion_update": topics.emotion_update,
    "intent_action": topics.intent_action,
    "reply": topics.reply,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("terminal_id", ["lamp-1", "客厅 的灯", "a.b:c@d", "x" * 128])
def test_each_terminal_has_a_topic_for_each_kind_of_message(kind, terminal_id):
    assert KINDS[kind](terminal_id) == f"soul/terminal/{terminal_id}/{kind}"


def test_the_topic_says_who_speaks_and_of_what():
    assert topics.sender("soul/terminal/客厅 的灯/online") == ("客厅 的灯", "online")
    assert topics.sender("soul/terminal/lamp/result/req_1") == ("lamp", "result/req_1")
    with pytest.raises(InvalidInput):
        topics.sender("soul/terminal//online")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("terminal_id", ["", "a/b", "/", "+", "#", "a+", "#b", "a\x00b", "\ud800", "x" * 129])
def test_an_id_that_would_leave_its_level_of_the_topic_is_refused(kind, terminal_id):
    with pytest.raises(InvalidInput, match="terminal id"):
        KINDS[kind](terminal_id)
