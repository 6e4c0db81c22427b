import re
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.character_words import describe_personality, grades_of
from soulgraph.soul.personality import MBTI_TYPES, Traits, traits_of

UNCHANGED = Traits(0.0, 0.0, 0.0, 0.0, 0.0)
LIMITS = {"zh": 120, "en": 260}
LANGS = list(LIMITS)


def described(mbti, lang="en", **drift):
    return describe_personality(traits_of(mbti), UNCHANGED._replace(**drift), lang)


@pytest.mark.parametrize("lang", LANGS)
def test_no_two_types_are_described_alike(lang):
    for one, other in combinations(MBTI_TYPES, 2):
        assert described(one, lang) != described(other, lang), f"{one} and {other}"


def test_opposite_types_share_no_sentence():
    enfp, istj = (set(described(mbti).split(". ")) for mbti in ("ENFP", "ISTJ"))
    assert len(enfp & istj) <= 1


@given(*(st.tuples(*[st.floats(*span)] * 5) for span in ((0, 1), (-0.22, 0.22))), st.sampled_from(LANGS))
def test_any_personality_is_short_and_without_numbers_or_letters_of_a_type(base, drift, lang):
    text = describe_personality(Traits(*base), Traits(*drift), lang)
    assert 20 < len(text) <= LIMITS[lang]
    assert not re.search(r"\d|\b[EI][NS][TF][JP]\b|MBTI", text)


@pytest.mark.parametrize("lang", LANGS)
def test_the_longest_description_fits(lang):
    corners = product((0.0, 0.4, 0.5, 0.6, 1.0), repeat=5)
    drifts = [Traits(*signs) for signs in product((-0.2, 0.2), repeat=5)]
    longest = max(len(describe_personality(Traits(*corner), drifts[0], lang)) for corner in corners)
    change = max(len(describe_personality(traits_of("INFJ"), drift, lang)) for drift in drifts)
    assert max(longest, change) <= LIMITS[lang]


@pytest.mark.parametrize(
    ("drift", "en", "zh"),
    [
        ({"empathy": 0.05}, "Has grown warmer over time.", "日子久了，变得更温暖了。"),
        ({"sensitivity": 0.06}, "Has grown more sensitive over time.", "日子久了，变得更敏感了。"),
        (
            {"stability": -0.1, "dominance": -0.05},
            "Has grown less steady and more yielding over time.",
            "更容易动摇、更会让步",
        ),
        (
            {"empathy": 0.05, "expressiveness": 0.2, "stability": 0.1},
            "grown more open and steadier over",
            "更开朗、更沉稳了",
        ),
    ],
)
def test_the_largest_changes_since_birth_are_told(drift, en, zh):
    assert en in described("INFJ", "en", **drift)
    assert zh in described("INFJ", "zh", **drift)


def test_a_change_too_small_to_notice_is_not_told():
    assert described("INFJ", empathy=0.03, stability=-0.03) == described("INFJ")


def test_drift_moves_the_description_itself():
    assert grades_of(traits_of("INFJ"))["expressiveness"] == 2
    assert "Shows little" in described("INFJ")
    assert "Shows some feeling" in described("INFJ", expressiveness=0.12)
