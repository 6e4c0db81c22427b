"""What a text says about days can be looked up by day, month and year."""

from datetime import datetime

import pytest

from soulgraph.senses.values.time_terms import time_terms

NOW = datetime(2026, 3, 4, 10)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("I broke my arm yesterday", "@2026-03-03 @2026-03"),
        ("明天下午三点面试", "@2026-03-05 @2026-03"),
        ("last night was loud", "@2026-03-03 @2026-03"),
        ("last weekend was fun", "@2026-02-28 @2026-02 @2026-03-01 @2026-03"),
        ("五月五号 and again on 5 May", "@2026-05-05 @2026-05"),
        ("in May 2023 we married", "@2023-05"),
        ("last summer I swam", "@2025-06 @2025-07 @2025-08"),
        ("去年我搬家了", "@2025"),
        ("since January I run", "@2026-01 @2026-02 @2026-03"),
        ("since 2024 I run", "@2024 @2025 @2026"),
        ("I run every Monday", ""),
        ("two friends, later", ""),
    ],
)
def test_a_text_is_found_by_its_days(text, terms):
    assert time_terms(text, NOW) == terms.split()


def test_a_week_has_seven_days_and_a_long_range_at_most_twelve_terms():
    assert len(time_terms("next week", NOW)) == 7 + 1
    assert len(time_terms("since 1950", NOW)) == 12
