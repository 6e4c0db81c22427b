"""What a question asks memory for: whose life, which days, which names."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.senses.question import read_question
from soulgraph.senses.tokenizer import fingerprint

NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Where do I work?", 1),
        ("我女儿叫什么？", 1),
        ("What was the dog called?", 1),
        ("Do you remember what my sister plays?", 1),
        ("你还记得我的生日吗？", 1),
        ("What did you promise?", -1),
        ("你答应过什么？", -1),
        ("What is your favourite song?", -1),
        ("What did you say about my book?", 0),
    ],
)
def test_a_question_tells_whose_life_it_asks_about(text, about):
    assert read_question(text, NOW).about == about


def day(year, month, day):
    return datetime(year, month, day, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("text", "begins", "ends"),
    [
        ("What did I do last Friday?", day(2026, 11, 13), day(2026, 11, 14)),
        ("上个月我去了哪里？", day(2026, 10, 1), day(2026, 11, 1)),
        ("What happened in May 2023?", day(2023, 5, 1), day(2023, 6, 1)),
    ],
)
def test_days_in_a_question_are_resolved(text, begins, ends):
    [span] = read_question(text, NOW).spans
    assert span == (begins, ends)


def test_names_and_questions_for_a_time_are_known():
    asked = read_question("When did Calvin travel to Tokyo?", NOW)
    assert asked.when
    assert fingerprint("calvin") in asked.names
    assert not read_question("Where did Calvin travel?", NOW).when


def test_an_irregular_form_asks_for_its_word():
    assert read_question("what I bought", NOW).terms == read_question("what I buy", NOW).terms


@given(st.text(max_size=200))
def test_any_text_can_be_read(text):
    assert read_question(text, NOW).about in (-1, 0, 1)
