"""Parsing times: it is Monday, 16 November 2026, at half past three in the afternoon."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.senses.values.times import parse_time

NOW = datetime(2026, 11, 16, 15, 30)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("半小时后", "2026-11-16T16:00:00"),
        ("十分钟以后提醒我", "2026-11-16T15:40:00"),
        ("五分钟之后", "2026-11-16T15:35:00"),
        ("过一个半小时叫我", "2026-11-16T17:00:00"),
        ("设个十分钟的闹钟", "2026-11-16T15:40:00"),
        ("三天后", "2026-11-19T15:30:00"),
        ("三天后早上八点", "2026-11-19T08:00:00"),
        ("in ten minutes", "2026-11-16T15:40:00"),
        ("half an hour from now", "2026-11-16T16:00:00"),
        ("two days later", "2026-11-18T15:30:00"),
        ("in 3 days at 8am", "2026-11-19T08:00:00"),
    ],
)
def test_a_length_of_time_counts_from_now(text, when):
    assert parse_time(text, NOW) == when


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("明早七点", "2026-11-17T07:00:00"),
        ("明天早上七点半叫我起床", "2026-11-17T07:30:00"),
        ("今晚八点半", "2026-11-16T20:30:00"),
        ("后天中午", "2026-11-18T12:00:00"),
        ("明天19:30", "2026-11-17T19:30:00"),
        ("明天三点", "2026-11-17T15:00:00"),
        ("明天六点", "2026-11-17T06:00:00"),
        ("周五晚上九点", "2026-11-20T21:00:00"),
        ("周一晚上八点", "2026-11-16T20:00:00"),
        ("周一早上九点", "2026-11-23T09:00:00"),
        ("下周一早上9点", "2026-11-23T09:00:00"),
        ("下下周三下午两点", "2026-12-02T14:00:00"),
        ("12月3号上午十点", "2026-12-03T10:00:00"),
        ("15号下午三点", "2026-12-15T15:00:00"),
        ("tomorrow at 7am", "2026-11-17T07:00:00"),
        ("wake me up at six tomorrow", "2026-11-17T06:00:00"),
        ("tonight at eight thirty", "2026-11-16T20:30:00"),
        ("the day after tomorrow at 3", "2026-11-18T15:00:00"),
        ("this friday at 6pm", "2026-11-20T18:00:00"),
        ("next friday at noon", "2026-11-27T12:00:00"),
        ("december 3rd at 10am", "2026-12-03T10:00:00"),
        ("2026-12-24 18:00", "2026-12-24T18:00:00"),
    ],
)
def test_a_day_and_a_clock_time_are_combined(text, when):
    assert parse_time(text, NOW) == when


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("七点", "2026-11-16T19:00:00"),
        ("七点把二号灯打开", "2026-11-16T19:00:00"),
        ("三点", "2026-11-17T03:00:00"),
        ("三点五十分", "2026-11-16T15:50:00"),
        ("四点过五分", "2026-11-16T16:05:00"),
        ("差五分八点", "2026-11-16T19:55:00"),
        ("差一刻九点", "2026-11-16T20:45:00"),
        ("7:30", "2026-11-16T19:30:00"),
        ("07:30", "2026-11-17T07:30:00"),
        ("19:30", "2026-11-16T19:30:00"),
        ("15:30", "2026-11-17T15:30:00"),
        ("早上七点", "2026-11-17T07:00:00"),
        ("下午三点一刻", "2026-11-17T15:15:00"),
        ("晚上十一点四十五", "2026-11-16T23:45:00"),
        ("晚上十二点", "2026-11-17T00:00:00"),
        ("今晚一点", "2026-11-17T01:00:00"),
        ("中午一点", "2026-11-17T13:00:00"),
        ("凌晨三点", "2026-11-17T03:00:00"),
        ("零点", "2026-11-17T00:00:00"),
        ("at 5pm", "2026-11-16T17:00:00"),
        ("7 p.m.", "2026-11-16T19:00:00"),
        ("eight o'clock", "2026-11-16T20:00:00"),
        ("half past six", "2026-11-16T18:30:00"),
        ("quarter to nine", "2026-11-16T20:45:00"),
        ("ten past five", "2026-11-16T17:10:00"),
        ("at seven oh five", "2026-11-16T19:05:00"),
        ("seven in the evening", "2026-11-16T19:00:00"),
        ("set an alarm for seven thirty", "2026-11-16T19:30:00"),
    ],
)
def test_a_clock_time_alone_is_the_next_one(text, when):
    assert parse_time(text, NOW) == when


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("大后天", "2026-11-19T09:00:00"),
        ("周六", "2026-11-21T09:00:00"),
        ("星期天早上", "2026-11-22T08:00:00"),
        ("20号", "2026-11-20T09:00:00"),
        ("下个月3号", "2026-12-03T09:00:00"),
        ("元旦是1月1日", "2027-01-01T09:00:00"),
        ("2月29号", "2028-02-29T09:00:00"),
        ("今晚", "2026-11-16T20:00:00"),
        ("明天下午", "2026-11-17T15:00:00"),
        ("tomorrow", "2026-11-17T09:00:00"),
        ("friday evening", "2026-11-20T20:00:00"),
        ("noon on saturday", "2026-11-21T12:00:00"),
        ("on the 20th", "2026-11-20T09:00:00"),
        ("on the 3rd of december", "2026-12-03T09:00:00"),
        ("midnight", "2026-11-17T00:00:00"),
    ],
)
def test_a_day_or_a_part_of_it_means_its_usual_hour(text, when):
    assert parse_time(text, NOW) == when


@pytest.mark.parametrize(
    "text",
    [
        "",
        "今天",
        "今天中午",
        "今早七点",
        "十分钟前",
        "半小时内",
        "晚点提醒我",
        "晚饭后提醒我",
        "温度调高一点",
        "打开二号灯",
        "二十五点",
        "2027年2月29日",
        "9999年12月31日晚上十二点",
        "ten minutes ago",
        "set it to 26 degrees",
        "at 50 percent",
    ],
)
def test_what_names_no_time_to_come_is_none(text):
    assert parse_time(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "when"), [("昨天晚上八点", "2026-11-15T20:00:00"), ("2020年5月1日8点", "2020-05-01T08:00:00")]
)
def test_a_day_of_the_past_is_taken_at_its_word(text, when):
    assert parse_time(text, NOW) == when


def test_in_the_small_hours_the_night_is_the_one_that_has_begun():
    assert parse_time("晚上一点", datetime(2026, 11, 16, 0, 30)) == "2026-11-16T01:00:00"


def test_an_aware_now_gives_its_own_wall_time():
    berlin = ZoneInfo("Europe/Berlin")
    assert parse_time("明早七点", NOW.replace(tzinfo=berlin)) == "2026-11-17T07:00:00"
    before_the_clocks_change = datetime(2026, 10, 25, 2, 30, tzinfo=berlin)
    assert parse_time("一小时后", before_the_clocks_change) == "2026-10-25T02:30:00"
    assert parse_time("一小时后", NOW.replace(tzinfo=UTC)) == "2026-11-16T16:30:00"


@given(st.integers(0, 23), st.integers(0, 59), st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)))
def test_a_written_clock_time_is_at_most_a_day_away(hour, minute, now):
    when = datetime.fromisoformat(parse_time(f"{hour:02}:{minute:02}", now))
    assert (when.hour % 12, when.minute) == (hour % 12, minute)
    assert timedelta(0) < when - now <= timedelta(days=1)


pieces = st.lists(
    st.sampled_from(
        [
            *"明今早晚下一二三十点半刻分钟小时后天周过差号月0123456789: ",
            "早上",
            "中午",
            "at ",
            "half ",
            "to ",
            "pm",
            "in ",
            "friday ",
        ]
    )
)


@given(pieces.map("".join), st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)))
def test_a_time_is_to_come_unless_its_day_has_passed(text, now):
    when = parse_time(text, now)
    assert when is None or datetime.fromisoformat(when) >= now.replace(microsecond=0)


@given(st.text())
def test_no_text_is_too_strange(text):
    assert parse_time(text, NOW) is None or datetime.fromisoformat(parse_time(text, NOW))
