"""Who waits for labels gets them, or is let go at the end."""

from soulgraph.runtime.tracing.trace import (
    add_decision,
    add_labels,
    current_labels,
    current_trace,
    keep_private,
    traced,
)


def test_what_ends_before_all_labels_are_known_is_sent_when_they_are():
    sent = []
    with traced(awaits="exec_mode", terminal_id=None):
        current_trace().send_when_labelled(lambda trace: sent.append(trace.metadata(root=False)))
        add_labels(mbti="INFJ")
        assert not sent
        add_labels(exec_mode="blocked")
        assert sent == [{"mbti": "INFJ", "exec_mode": "blocked"}]
        current_trace().send_when_labelled(lambda _: sent.append("at once"))
        assert sent[1:] == ["at once"]


def test_what_waits_for_a_label_that_never_comes_is_sent_at_the_end():
    sent = []
    with traced(awaits="exec_mode"):
        current_trace().send_when_labelled(lambda _: sent.append("late"))
        assert not sent
    assert sent == ["late"]


def test_outside_of_a_trace_nothing_is_kept():
    add_labels(mbti="INFJ")
    add_decision("persona.mode.changed", {"to": "idol"})
    keep_private("a thought")
    trace = current_trace()
    assert not (trace.labels or trace.decisions or trace.private or current_labels())
