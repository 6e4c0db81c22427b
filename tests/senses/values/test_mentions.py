"""Time expressions of Chinese and English sentences mean what a careful reader takes them for."""

import random
import time
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from soulgraph.senses.values.mentions import MAX_MENTIONS, find_times

HERE = Path(__file__).parent
NOW = datetime(2026, 3, 4, 10)
"""A Wednesday."""


def cases_of(name):
    return yaml.safe_load((HERE / f"{name}.yaml").read_text("utf-8"))


def expected(case):
    return [(wanted["span"], wanted["begins"], wanted["ends"]) for wanted in case["expect"]]


def found(case):
    mentions = find_times(case["text"], datetime.fromisoformat(case["now"]))
    return [(mention.text, mention.begins.isoformat(), mention.ends.isoformat()) for mention in mentions]


KNOWN = [*cases_of("times_open"), *cases_of("times_more")]


@pytest.mark.parametrize("case", KNOWN, ids=[case["text"] for case in KNOWN])
def test_a_sentence_names_these_times_and_no_others(case):
    assert found(case) == expected(case)


def test_sentences_that_were_kept_until_the_end_are_mostly_right():
    """77 of 80 when they were first run."""
    right = [case["id"] for case in cases_of("times_held") if found(case) == expected(case)]
    assert len(right) >= 77


@pytest.mark.parametrize(
    ("text", "tense", "day"),
    [
        ("Friday", "past", "2026-02-27"),
        ("Friday", "future", "2026-03-06"),
        ("Friday", "any", "2026-03-06"),
        ("周三", "past", "2026-02-25"),
        ("周三", "future", "2026-03-11"),
        ("in May", "past", "2025-05-01"),
        ("in May", "future", "2026-05-01"),
        ("5月5号", "past", "2025-05-05"),
        ("29 February", "past", "2024-02-29"),
        ("29 February", "future", "2028-02-29"),
        ("we met on Friday", "future", "2026-03-06"),
    ],
)
def test_what_is_ambiguous_follows_the_tense(text, tense, day):
    (mention,) = find_times(text, NOW, tense)
    assert mention.begins == datetime.fromisoformat(day)


@pytest.mark.parametrize(
    ("text", "recurs"),
    [
        ("water the plants every day", "daily"),
        ("每天晚上九点吃药", "daily"),
        ("every morning at seven", "daily"),
        ("every weekday at 7 am", "weekdays"),
        ("on Mondays we swim", "weekly"),
        ("每周三上课", "weekly"),
        ("every Monday at nine", "weekly"),
        ("每个月5号还款", "monthly"),
        ("每年春天过敏", "yearly"),
        ("each August", "yearly"),
        ("next Monday", ""),
    ],
)
def test_what_recurs_says_how_and_gives_its_next_time(text, recurs):
    (mention,) = find_times(text, NOW)
    assert mention.recurs == recurs
    assert mention.ends > NOW


@pytest.mark.parametrize(
    ("text", "hedged"),
    [
        ("maybe on Friday", True),
        ("around seven I'll be home", True),
        ("at seven or so", True),
        ("大概周五到", True),
        ("三点左右见", True),
        ("on Friday", False),
        ("maybe not. On Friday", False),
    ],
)
def test_what_is_unsure_is_marked(text, hedged):
    (mention,) = find_times(text, NOW)
    assert mention.hedged is hedged


@pytest.mark.parametrize(
    ("text", "grain"),
    [
        ("at seven", "minute"),
        ("Friday evening", "part"),
        ("上周五", "day"),
        ("next week", "week"),
        ("the end of the month", "week"),
        ("last month", "month"),
        ("in six months", "month"),
        ("last summer", "season"),
        ("2019年", "year"),
        ("in the 90s", "vague"),
        ("a few days ago", "vague"),
    ],
)
def test_the_grain_says_how_exact_it_is(text, grain):
    (mention,) = find_times(text, NOW)
    assert mention.grain == grain


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("昨天", "2023-12-31"),
        ("last month", "2023-12-01"),
        ("next month", "2024-02-01"),
        ("in two months", "2024-03-01"),
        ("last Monday", "2023-12-25"),
        ("last winter", "2022-12-01"),
        ("next Friday", "2024-01-12"),
    ],
)
def test_ranges_cross_the_turn_of_the_year(text, day):
    (mention,) = find_times(text, datetime(2024, 1, 1, 12))
    assert mention.begins == datetime.fromisoformat(day)


@pytest.mark.parametrize("text", ["in 999 years", "999年后", "next year", "tomorrow", "9999年", "next week", "2月29号"])
@pytest.mark.parametrize("now", [datetime.min, datetime(9999, 12, 31, 23, 59)])
def test_the_ends_of_time_raise_nothing(text, now):
    assert all(mention.begins < mention.ends for mention in find_times(text, now))


WORDS = (
    "5月 周 一 三点 at five may the of next last week ago a couple 每 天 前 后 12:30 2019 to 1 9 and half hour in early"
)
SIGNS = "- , 。 从 到 今 晚上 了 was friday since christmas 31 st ' 号 年 点半 İ ß 後 週 ３ \ud800"
PIECES = [*WORDS.split(), *SIGNS.split(), "\n"]


def test_any_text_gives_spans_in_order_and_ends_soon():
    chance = random.Random(7)
    for _ in range(150):
        space = chance.choice(["", " "])
        text = space.join(chance.choice(PIECES) for _ in range(60))
        mentions = find_times(text, NOW + timedelta(hours=chance.randrange(10_000)))
        assert all(text[mention.start : mention.end] == mention.text for mention in mentions)
        assert all(mention.begins < mention.ends for mention in mentions)
        assert all(one.end <= other.start for one, other in pairwise(mentions))


@pytest.mark.parametrize(
    "piece", [*(f"{piece} " for piece in PIECES), "5月", "周一到", "天", "from 1 to ", "in a couple of "]
)
def test_a_long_message_of_anything_is_read_in_no_time(piece):
    """8,000 characters, far more than the hundredths of a second it takes, so that a busy machine does not fail it."""
    begin = time.process_time()
    mentions = find_times((piece * 8000)[:8000], NOW)
    assert time.process_time() - begin < 1
    assert len(mentions) <= MAX_MENTIONS
