"""Parsing durations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.senses.values.durations import MAX_S, duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("半小时", 1800),
        ("半个钟头", 1800),
        ("一个半小时", 5400),
        ("两小时半", 9000),
        ("一点五小时", 5400),
        ("三刻钟", 2700),
        ("十分钟", 600),
        ("十分钟后提醒我", 600),
        ("煮面定个三分半", 210),
        ("９０秒", 90),
        ("半分钟", 30),
        ("1小时20分钟", 4800),
        ("一小时零五分", 3900),
        ("一小时二十", 4800),
        ("十分钟三十秒", 630),
        ("两天", 172_800),
        ("一个星期", 604_800),
        ("an hour and a half", 5400),
        ("one and a half hours", 5400),
        ("half an hour", 1800),
        ("a quarter of an hour", 900),
        ("three quarters of an hour", 2700),
        ("ten minutes", 600),
        ("a couple of minutes", 120),
        ("two hours and ten minutes", 7800),
        ("a thirty second timer", 30),
        ("2 days", 172_800),
        ("90s", 90),
        ("1h30m", 5400),
        ("2h30", 9000),
        ("steam it for twenty minutes at 5pm", 1200),
    ],
)
def test_a_duration_is_read_in_seconds(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "三点二十分",
        "十点半",
        "周一天气怎么样",
        "第二天",
        "下周三",
        "五六分钟",
        "三十",
        "一千天",
        "at ten",
        "2 months",
    ],
)
def test_clock_times_weekdays_guesses_and_what_is_longer_than_a_year_are_no_duration(text):
    assert duration(text) is None


@given(st.integers(0, 99), st.integers(0, 59), st.integers(0, 59))
def test_hours_minutes_and_seconds_add_up(hours, minutes, seconds):
    total = hours * 3600 + minutes * 60 + seconds
    assert duration(f"{hours}小时{minutes}分{seconds}秒") == total
    assert duration(f"{hours}h {minutes}m {seconds}s") == total
    assert duration(f"{hours} hours, {minutes} minutes and {seconds} seconds") == total


pieces = st.lists(
    st.sampled_from([*"半一二两三十个小时分钟秒刻天周点0123456789. ", "half ", "an ", "hour ", "and a half", "m"])
)


@given(st.text() | pieces.map("".join))
def test_no_text_is_too_strange_and_no_duration_is_negative(text):
    assert 0 <= (duration(text) or 0) <= MAX_S
