from datetime import datetime, timedelta

import pytest

from soulgraph.errors import InvalidInput
from soulgraph.soul.quiet_hours import QuietHours


def at(clock):
    return datetime.fromisoformat(f"2027-01-15T{clock}")


@pytest.mark.parametrize(
    ("hours", "quiet", "loud"),
    [
        ("22:00-08:00", ["22:00", "23:59:59", "00:00", "07:59:59"], ["08:00", "12:00", "21:59:59"]),
        ("13:00 - 14:30", ["13:00", "14:29"], ["12:59", "14:30", "00:00"]),
        ("00:00-6:00", ["00:00", "05:59"], ["06:00", "23:59"]),
        ("", [], ["00:00", "12:00", "23:59"]),
    ],
)
def test_hours_are_quiet_from_their_beginning_up_to_their_end(hours, quiet, loud):
    hours = QuietHours.parse(hours)
    assert all(at(clock) in hours for clock in quiet)
    assert not any(at(clock) in hours for clock in loud)


@pytest.mark.parametrize(("hours", "length"), [("22:00-08:00", 10), ("13:00-14:30", 1.5), ("", 0)])
def test_they_are_as_long_as_the_clock_says_and_written_as_they_are_read(hours, length):
    assert QuietHours.parse(hours).length == timedelta(hours=length)
    assert str(QuietHours.parse(hours)) == hours


@pytest.mark.parametrize("nonsense", ["always", "22-8", "24:00-08:00", "22:00", "22:00-08:00-09:00", "08:00-08:00"])
def test_what_cannot_be_read_is_refused_with_what_to_write(nonsense):
    with pytest.raises(InvalidInput, match=r'"22:00-08:00"|write ""'):
        QuietHours.parse(nonsense)
