"""Topics: how they are built and parsed, and which terminal ids are refused."""

import pytest

from soulgraph.errors import InvalidInput
from soulgraph.terminals import topics


@pytest.mark.parametrize("terminal_id", ["lamp-1", "客厅的灯", "a.b:c@d", "x" * 128])
def test_each_terminal_has_a_topic_for_each_kind_of_message(terminal_id):
    assert topics.topic(terminal_id, "reply") == f"soul/terminal/{terminal_id}/reply"
    assert topics.topic(terminal_id, "invoke", "use_1") == f"soul/terminal/{terminal_id}/invoke/use_1"


def test_the_topic_says_who_speaks_and_of_what():
    assert topics.parse("soul/terminal/客厅的灯/online") == ("客厅的灯", "online")
    assert topics.parse("soul/terminal/lamp/result/req_1") == ("lamp", "result/req_1")
    with pytest.raises(InvalidInput):
        topics.parse("soul/terminal//online")


@pytest.mark.parametrize(
    "terminal_id", ["", "a/b", "/", "+", "#", "a+", "#b", "a b", "$a", "a\x00b", "\ud800", "x" * 129, "a\n"]
)
def test_an_id_that_would_leave_its_level_of_the_topic_is_refused(terminal_id):
    with pytest.raises(InvalidInput, match="terminal id"):
        topics.topic(terminal_id, "reply")


@pytest.mark.parametrize(
    ("topic_filter", "topic", "is_so"),
    [
        ("soul/terminal/#", "soul/terminal/lamp/reply", True),
        ("soul/terminal/#", "soul/terminal", True),
        ("soul/terminal/#", "soul/terminals/lamp", False),
        ("soul/terminal/+/reply", "soul/terminal/lamp/reply", True),
        ("soul/terminal/+/reply", "soul/terminal/lamp/status", False),
        ("soul/terminal/+/reply", "soul/terminal/lamp/x/reply", False),
        ("soul/terminal/lamp/+", "soul/terminal/lamp/invoke/1", False),
        ("soul/terminal/lamp/#", "soul/terminal/lamp/invoke/1", True),
        ("soul/terminal/lamp", "soul/terminal/lamp", True),
        ("soul/terminal/lamp", "soul/terminal/lamp/reply", False),
        ("soul/terminal/lamp/reply", "soul/terminal/lamp", False),
    ],
)
def test_a_filter_matches_as_the_standard_says(topic_filter, topic, is_so):
    assert topics.matches(topic_filter, topic) is is_so
