"""Text normalisation."""

import pytest

from soulgraph.senses.text import MAX_CHARS, clean_utterance, normalise


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("ｔｕｒｎ　ｏｎ", "turn on"),
        ("１０％", "10%"),
        ("幫我開燈，覺得難過", "帮我开灯,觉得难过"),
        ("don’t", "don't"),
        ("👍🏽", "👍"),
        ("❤️", "❤"),
        ("", ""),
    ],
)
def test_spellings_become_one(written, read):
    assert normalise(written) == read


def test_half_a_surrogate_pair_is_no_obstacle():
    assert "开灯" in normalise("開燈\ud83d")


def test_what_is_heard_is_one_line_of_limited_length():
    assert clean_utterance(" turn\n on\t it ") == "turn on it"
    assert len(clean_utterance("字" * 8000)) == MAX_CHARS
