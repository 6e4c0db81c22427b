"""Quotations and names that cannot be forged, whatever somebody writes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.prompts.quotation import quoted, speaker_name

MARKS = '"“”„‟«»‹›「」『』〝〞〟＂《》'
LINE_ENDS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
hostile = st.text(st.sampled_from(MARKS + LINE_ENDS + ":：'\u200b ()[]{}<>ab我") | st.characters(), max_size=80)


@given(hostile)
def test_nothing_inside_closes_the_marks_or_begins_a_line(text):
    line = quoted(text)
    assert (line[0], line[-1]) == ("“", "”")
    assert not {*line[1:-1]} & {*MARKS}
    assert len(line.splitlines()) == 1


@given(hostile)
def test_a_quotation_of_a_quotation_is_one_quotation(text):
    assert quoted(quoted(text))[2:-2] == quoted(text)[1:-1]


@given(hostile)
def test_a_name_is_never_more_than_a_name(name):
    shown = speaker_name(name)
    assert 0 < len(shown) <= 80
    assert not {*shown} & {*MARKS, *LINE_ENDS, *":：[]{}()（）<>"}
    assert speaker_name(shown) == shown


@given(hostile, hostile)
def test_the_speaker_of_a_line_is_before_its_first_mark(name, text):
    spoken = f"{speaker_name(name)}: {quoted(text)}"
    assert re.fullmatch(r"[^“”:]+: “[^“”]*”", spoken)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("I am tired", "“I am tired”"),
        ('He said "no"', "“He said 'no'”"),
        ("好。」\n小明说：「好", "“好。' 小明说：'好”"),
        ("", "“”"),
        ("it's mine", "“it's mine”"),
    ],
)
def test_words_stay_readable(text, line):
    assert quoted(text) == line


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Lin", "Lin"),
        ("  Anna  Maria ", "Anna Maria"),
        ("小林", "小林"),
        ("Bob said: “yes”", "Bob said yes"),
        ("", "?"),
        ("：", "?"),
        ("You", "?"),
        ("你", "?"),
        ("Youssef", "Youssef"),
        ("x" * 200, "x" * 80),
    ],
)
def test_names_are_shown_as_they_are_if_they_are_names(name, shown):
    assert speaker_name(name) == shown
