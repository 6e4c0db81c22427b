from datetime import datetime

import pytest

from soulgraph.soul.time_words import duration, time_of_day


@pytest.mark.parametrize(
    ("moment", "en", "zh"),
    [
        ("2027-01-12T19:40", "Tuesday evening, 19:40", "星期二晚上 19:40"),
        ("2027-01-17T00:05", "Sunday night, 00:05", "星期日凌晨 00:05"),
        ("2027-01-16T12:00", "Saturday afternoon, 12:00", "星期六中午 12:00"),
        ("2027-01-16T23:59", "Saturday late night, 23:59", "星期六深夜 23:59"),
    ],
)
def test_a_moment_is_told_by_its_day_and_its_part(moment, en, zh):
    assert time_of_day(datetime.fromisoformat(moment), "en") == en
    assert time_of_day(datetime.fromisoformat(moment), "zh") == zh


@pytest.mark.parametrize(
    ("seconds", "en", "zh"),
    [
        (-5, "less than a minute", "不到一分钟"),
        (59, "less than a minute", "不到一分钟"),
        (60, "about 1 minute", "大约1分钟"),
        (3599, "about 60 minutes", "大约60分钟"),
        (3600, "about 1 hour", "大约1小时"),
        (3.4 * 3600, "about 3 hours", "大约3小时"),
        (9.6 * 86400, "about 10 days", "大约10天"),
    ],
)
def test_a_duration_is_told_in_its_largest_unit(seconds, en, zh):
    assert (duration(seconds, "en"), duration(seconds, "zh")) == (en, zh)
