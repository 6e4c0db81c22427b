"""The type that a character's text suggests: what it says of itself, what it denies, and how sure it is."""

import pytest

from soulgraph.bench.mbti import axis_hits, cases, is_right, suggested
from soulgraph.senses.mbti.suggestion import UNSURE, CharacterText, suggest_mbti

LEAST = {"open": 0.95, "held": 0.95, "third": 0.9, "fourth": 0.88}


def suggestion(about, name="Vera", **fields):
    return suggest_mbti(CharacterText(name, about, **fields))


@pytest.mark.parametrize("half", LEAST)
def test_most_axes_are_as_a_reader_tells_them(half):
    hits = axis_hits([case for case in cases(half) if case["kind"] == "implied"]).values()
    assert sum(right for right, _ in hits) / sum(told for _, told in hits) >= LEAST[half]


@pytest.mark.parametrize(
    "case", [case for case in cases("open") if case["kind"] != "implied"], ids=lambda case: case["name"]
)
def test_a_stated_type_is_found_and_where_nothing_is_told_it_says_so(case):
    assert is_right(case), suggested(case)


def test_there_are_enough_cases_in_both_languages():
    for half in ("open", "held"):
        names = [case["name"][:3] for case in cases(half)]
        assert len(names) >= 30 and names.count("zh ") >= 14 and names.count("en ") >= 14


@pytest.mark.parametrize(
    ("about", "mbti_type"),
    [
        ("MBTI: INFJ", "INFJ"),
        ("Vera is an intp-t.", "INTP"),
        ("典型的INFP人格", "INFP"),
        ("Not an ENFP but an ISTJ.", "ISTJ"),
        ("Her sister is an ESTP. Vera is an INFJ.", "INFJ"),
        ("{{user}} is an ESTP. {{char}} is an INFJ.", "INFJ"),
        ("ESTP at work. MBTI: ISFP", "ISFP"),
    ],
)
def test_what_the_text_says_of_the_character_counts(about, mbti_type):
    found = suggestion(about)
    assert found.mbti_type == mbti_type and found.confidence >= 0.75
    assert mbti_type.lower() in found.why[0].lower()


def test_what_is_denied_speaks_for_the_other_side():
    assert suggestion("She is shy.").mbti_type[0] == "I"
    assert suggestion("She is not shy.").mbti_type[0] == "E"
    assert suggestion("她很内向").mbti_type[0] == "I"
    assert suggestion("她并不内向").mbti_type[0] == "E"
    assert suggestion('Dislikes("crowds" + "parties")').mbti_type[0] == "I"
    assert suggestion("She is not shy.").why[0] == "E: not shy"


def test_tags_count_and_a_text_without_words_is_a_guess():
    assert suggestion("A clerk.", tags=["female", "INTJ"]).mbti_type == "INTJ"
    for text in ("", "A clerk of 34 years.", "x" * 100_000, "不" * 50_000, "not " * 20_000):
        assert suggestion(text).confidence < UNSURE
    assert "a guess" in suggestion("").why[0]
