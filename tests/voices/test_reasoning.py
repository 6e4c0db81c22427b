"""Thoughts are taken out of a text wherever it is cut, and nothing else is."""

import pytest

from soulgraph.voices.reasoning import ReasoningEcho, ThoughtFilter

TEXTS = {
    "Hello.": "Hello.",
    "<think>a</think>Hello.": "Hello.",
    "<think>\na < b\n</think>\n\nHello.": "Hello.",
    "Hel<think>a</think>lo.": "Hello.",
    "<think>a</think><think>b</think> Hello. ": "Hello. ",
    "1 < 2 and <thin": "1 < 2 and <thin",
    "a <thing> b </thing> <": "a <thing> b </thing> <",
    "<think>never closed": "",
    "<think></think>": "",
    " <narrative>Hi</narrative>": " <narrative>Hi</narrative>",
}


def without_thoughts(text):
    thoughts = ThoughtFilter()
    return thoughts.feed(text) + thoughts.rest()


@pytest.mark.parametrize(("text", "shown"), TEXTS.items())
def test_a_text_cut_anywhere_loses_its_thoughts_and_nothing_else(text, shown):
    assert without_thoughts(text) == shown
    for first in range(len(text) + 1):
        for second in range(first, len(text) + 1):
            thoughts = ThoughtFilter()
            pieces = [thoughts.feed(piece) for piece in (text[:first], text[first:second], text[second:])]
            assert "".join(pieces) + thoughts.rest() == shown


def test_plain_text_is_never_held_back():
    thoughts = ThoughtFilter()
    assert [thoughts.feed(piece) for piece in ("a", " b ", "< c", " d")] == ["a", " b ", "< c", " d"]


@pytest.mark.parametrize("size", range(1, 12))
def test_a_model_that_is_known_to_begin_with_a_thought_shows_only_what_follows(size):
    text = "They greet me.</think>\n\nHello."
    thoughts = ThoughtFilter(starts_inside=True)
    pieces = [thoughts.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join(pieces) + thoughts.rest() == "Hello."
    assert thoughts.closed_unopened


def test_and_if_it_does_not_this_time_its_answer_comes_at_the_end():
    thoughts = ThoughtFilter(starts_inside=True)
    assert thoughts.feed("Hello") + thoughts.feed(".") == ""
    assert thoughts.rest() == "Hello."
    assert not thoughts.closed_unopened


def test_a_whole_answer_that_only_closes_a_thought_is_what_follows():
    assert without_thoughts("They greet me.</think>\n\nHello.") == "Hello."


def test_tags_without_end_cost_no_more_than_their_length():
    """With a copy of the rest for every tag these would take an hour."""
    assert ThoughtFilter().feed("</think>" * 400_000 + "Hello.") == "Hello."
    assert ThoughtFilter().feed("<think>" * 400_000 + "</think>Hello.") == "Hello."


def test_of_endless_thoughts_so_much_is_kept():
    echo = ReasoningEcho()
    for _ in range(30):
        echo.note("answer", {"reasoning": "h" * 100_000})
    echo.note("answer", {"tool_calls": [{"id": "call"}]})
    [message] = echo.attach([{"tool_calls": [{"id": "call"}]}])
    assert len(message["reasoning"]) == 400_000


def test_only_the_thoughts_of_the_latest_answers_are_kept():
    echo = ReasoningEcho()
    for number in range(100):
        echo.note(f"c{number}", {"reasoning_content": "x", "tool_calls": [{"id": f"call_{number}"}]})
    old, new = ({"role": "assistant", "tool_calls": [{"id": f"call_{number}"}]} for number in (0, 99))
    assert echo.attach([old, new]) == [old, {**new, "reasoning_content": "x"}]
    assert len(echo._thoughts) == len(echo._answer_of_call) == 64
