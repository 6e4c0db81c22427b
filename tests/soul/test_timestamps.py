import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.timestamps import epoch, iso


def test_a_moment_is_written_in_utc_to_the_millisecond():
    assert iso(0) == "1970-01-01T00:00:00.000Z"
    assert iso(1_800_000_000.125) == "2027-01-15T08:00:00.125Z"


@pytest.mark.parametrize(
    "timestamp",
    ["2027-01-15T08:00:00.125Z", "2027-01-15T16:00:00.125+08:00", "2027-01-15T08:00:00.125", "2027-01-15 08:00:00.125"],
)
def test_a_moment_is_read_in_any_zone_and_is_utc_without_one(timestamp):
    assert epoch(timestamp) == 1_800_000_000.125


@given(st.integers(0, 4_000_000_000_000))
def test_writing_and_reading_are_each_others_inverse(milliseconds):
    assert epoch(iso(milliseconds / 1000)) == pytest.approx(milliseconds / 1000, abs=0.001)


@given(st.integers(0, 4_000_000_000_000), st.integers(0, 10_000_000))
def test_timestamps_sort_as_text_like_the_moments_they_name(milliseconds, later):
    assert iso(milliseconds / 1000) <= iso((milliseconds + later) / 1000)
