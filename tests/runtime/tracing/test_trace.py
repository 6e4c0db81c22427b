"""What a trace knows while it lasts, and that two of them at once do not mix."""

import asyncio

from soulgraph.runtime.tracing.trace import (
    add_decision,
    add_labels,
    current_labels,
    current_trace,
    keep_private,
    traced,
)


async def test_two_traces_at_once_keep_their_labels_apart():
    async def labelled(mbti):
        with traced(terminal_id=None, soul_id=mbti):
            await asyncio.sleep(0)
            add_labels(mbti=mbti)
            await asyncio.sleep(0)
            return current_labels()

    assert await asyncio.gather(labelled("INFJ"), labelled("ESTP")) == [
        {"soul_id": "INFJ", "mbti": "INFJ"},
        {"soul_id": "ESTP", "mbti": "ESTP"},
    ]


def test_what_was_redacted_before_a_text_became_private_is_redacted_anew():
    with traced():
        current_trace().texts["a private thought"] = "a private thought"
        keep_private("private")
        assert not current_trace().texts


def test_outside_of_a_trace_nothing_is_kept():
    add_labels(mbti="INFJ")
    add_decision("persona.mode.changed", {"to": "idol"})
    keep_private("a thought")
    trace = current_trace()
    assert not (trace.labels or trace.decisions or trace.private or current_labels())
