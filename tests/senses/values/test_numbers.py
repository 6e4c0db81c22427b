"""Parsing numbers and percentages."""

import cn2an
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.senses.values.numbers import in_digits, number, percent

ONES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
ONES += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def in_english(n: int) -> str:
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10 - 2] + (f" {ONES[n % 10]}" if n % 10 else "")
    size, name = (1000, "thousand") if n >= 1000 else (100, "hundred")
    rest = f" {'and ' if n % size < 100 else ''}{in_english(n % size)}" if n % size else ""
    return f"{in_english(n // size)} {name}{rest}"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("26", 26),
        ("二十六度", 26),
        ("两百零五", 205),
        ("一百二", 120),
        ("一百零二", 102),
        ("一万二", 12_000),
        ("一亿二千万", 120_000_000),
        ("5万", 50_000),
        ("二零二六", 2026),
        ("１２．５", 12.5),
        ("三点五", 3.5),
        ("三点零五", 3.05),
        ("半", 0.5),
        ("一半", 0.5),
        ("一个半", 1.5),
        ("二十六度半", 26.5),
        ("体温三十七度五", 37.5),
        ("三分之一", 0.333333),
        ("百分之三十", 30),
        ("零下五度", -5),
        ("负十二", -12),
        ("-7", -7),
        ("10-20", 10),
        ("twenty six", 26),
        ("twenty-six degrees", 26),
        ("a hundred and five", 105),
        ("three point five", 3.5),
        ("two and a half", 2.5),
        ("minus five", -5),
        ("half", 0.5),
    ],
)
def test_a_number_is_read_however_it_is_said(text, value):
    said = number(text)
    assert (said, type(said)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("把二号灯调到二十六", 26),
        ("二号空调开二十六度", 26),
        ("十分钟后音量调到三十", 30),
        ("七点半开到二十档", 20),
        ("set light number two to fifty", 50),
        ("in ten minutes play song 4", 4),
        ("开二号灯", 2),
    ],
)
def test_of_several_numbers_the_target_comes_before_the_first_and_labels_and_times_come_last(text, value):
    assert number(text) == value


@pytest.mark.parametrize(
    "text", ["", "温度调高一点", "帮我看一下", "我们一起去", "千万别忘", "十分好听", "万一下雨", "五六度", "turn it up"]
)
def test_what_only_sounds_like_a_number_is_none(text):
    assert number(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("把二号灯调到百分之三十", 30),
        ("30%", 30),
        ("３０％", 30),
        ("百分之零点五", 0.5),
        ("三成", 30),
        ("七成五", 75),
        ("three quarters", 75),
        ("音量开到一半", 50),
        ("三分之一", 33.333333),
        ("调到最大", 100),
        ("音量最小", 0),
        ("音量四十", 40),
        ("half", 50),
        ("fifty percent", 50),
        ("at full brightness", 100),
        ("turn it up to eighty", 80),
        ("light 2 at thirty per cent", 30),
    ],
)
def test_a_share_comes_before_a_number(text, value):
    assert percent(text) == value


@pytest.mark.parametrize("text", ["百分之一百二", "音量调到三百", "零下五度", "亮一点", ""])
def test_no_share_lies_outside_0_to_100(text):
    assert percent(text) is None


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("五点零五分叫我", "5点05分叫我"),
        ("今晚一点", "今晚1点"),
        ("晚一点", "晚一点"),
        ("周三", "周3"),
        ("thirty second timer", "30 sec timer"),
        ("eight thirty", "8 30"),
    ],
)
def test_only_the_numbers_of_a_sentence_are_written_in_digits(text, digits):
    assert in_digits(text) == digits


@given(st.integers(0, 99_999))
def test_a_whole_number_survives_being_said_in_chinese(n):
    assert number(cn2an.an2cn(n)) == n


@given(st.integers(0, 99_999))
def test_a_whole_number_survives_being_said_in_english(n):
    assert number(in_english(n)) == n


@given(st.integers(-99, 99), st.integers(1, 9))
def test_signs_and_decimals_survive_being_said_in_chinese(n, tenth):
    value = float(f"{n}.{tenth}")
    assert number(cn2an.an2cn(value)) == value


spoken_pieces = st.lists(
    st.sampled_from(
        [*"零一二两三十百千万亿半点分之成负下%0123456789.- ", "half ", "hundred ", "and ", "to ", "percent"]
    )
)


@given(st.text() | spoken_pieces.map("".join))
def test_no_text_is_too_strange(text):
    share = percent(text)
    assert share is None or 0 <= share <= 100
    assert number(text) is None or isinstance(number(text), int | float)
