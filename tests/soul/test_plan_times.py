"""When plans are due: by the wall clock of a zone, outside quiet hours, again and again, and after they are over."""

from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from soulgraph.soul.plan_times import (
    after_quiet_hours,
    is_zone,
    local_time,
    may_say,
    moment,
    next_time,
    saying_time,
    zone_of,
)
from soulgraph.soul.quiet_hours import QuietHours

BERLIN = ZoneInfo("Europe/Berlin")
QUIET = QuietHours.parse("22:00-08:00")


def at(text):
    return datetime.fromisoformat(text)


def test_seven_is_seven_before_and_after_clocks_change():
    days = [moment(at(f"2026-03-{day}T07:00"), BERLIN) for day in (28, 29, 30)]
    assert [b - a for a, b in pairwise(days)] == [23 * 3600, 24 * 3600]


def test_a_time_that_clocks_skip_is_said_after_the_gap_and_one_shown_twice_at_the_first():
    skipped = moment(at("2026-03-29T02:30"), BERLIN)
    assert local_time(skipped, BERLIN) == at("2026-03-29T03:30")
    twice = moment(at("2026-10-25T02:30"), BERLIN)
    assert datetime.fromtimestamp(twice, BERLIN).utcoffset().total_seconds() == 7200


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "Europe"])
def test_a_zone_that_does_not_exist_is_the_servers(name):
    assert not is_zone(name)
    assert zone_of(name, BERLIN) is BERLIN


SAID = {
    "a clock time then": ("minute", "2026-05-01T19:00", "2026-05-01T19:01", "2026-05-01T19:00"),
    "a day in its morning": ("day", "2026-05-02T00:00", "2026-05-03T00:00", "2026-05-02T09:00"),
    "today in the evening": ("day", "2026-05-01T00:00", "2026-05-02T00:00", "2026-05-01T18:00"),
    "a week on its first morning": ("week", "2026-05-04T00:00", "2026-05-11T00:00", "2026-05-04T09:00"),
    "an evening when it begins": ("part", "2026-05-01T18:00", "2026-05-02T00:00", "2026-05-01T18:00"),
    "an afternoon that has begun soon": ("part", "2026-05-01T12:00", "2026-05-01T18:00", "2026-05-01T13:00"),
}


@pytest.mark.parametrize(("grain", "begins", "ends", "said"), SAID.values(), ids=SAID)
def test_a_reminder_is_said(grain, begins, ends, said):
    assert saying_time(at(begins), at(ends), grain, at("2026-05-01T12:00")) == at(said)


AGAIN = {
    "daily": ("2026-05-01T07:00", "2026-05-01T07:00", "2026-05-02T07:00"),
    "weekdays": ("2026-05-01T07:00", "2026-05-01T07:00", "2026-05-04T07:00"),
    "weekly": ("2026-05-01T07:00", "2026-05-01T07:00", "2026-05-08T07:00"),
    "monthly": ("2026-01-31T07:00", "2026-01-31T07:00", "2026-02-28T07:00"),
    "yearly": ("2024-02-29T07:00", "2024-02-29T07:00", "2025-02-28T07:00"),
}


@pytest.mark.parametrize(("recurs", "times"), AGAIN.items(), ids=AGAIN)
def test_what_recurs_comes_again(recurs, times):
    local, now, following = map(at, times)
    assert next_time(local, recurs, now) == following


def test_days_that_were_missed_are_skipped_and_a_clock_put_back_gives_none_twice():
    assert next_time(at("2026-05-01T07:00"), "daily", at("2026-05-09T12:00")) == at("2026-05-10T07:00")
    assert next_time(at("2026-05-01T07:00"), "daily", at("2026-04-20T12:00")) == at("2026-05-02T07:00")
    assert next_time(at("2026-01-31T07:00"), "monthly", at("2026-03-01T07:00")) == at("2026-03-31T07:00")


def test_quiet_hours_are_broken_for_a_time_that_was_named_alone():
    night = moment(at("2026-05-01T23:30"), BERLIN)
    assert may_say(night, "minute", night + 5, BERLIN, QUIET)
    assert not may_say(night, "day", night + 5, BERLIN, QUIET)
    assert not may_say(night - 7200, "minute", night, BERLIN, QUIET)  # late, and nobody named this time
    assert may_say(night, "day", moment(at("2026-05-02T08:00"), BERLIN), BERLIN, QUIET)
    assert after_quiet_hours(night, BERLIN, QUIET) == moment(at("2026-05-02T08:00"), BERLIN)
    assert after_quiet_hours(night + 7200, BERLIN, QUIET) == moment(at("2026-05-02T08:00"), BERLIN)
