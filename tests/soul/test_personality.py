import pytest

from soulgraph.errors import InvalidInput
from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.personality import MBTI_TYPES, Traits, neutral, traits_of


@pytest.mark.parametrize(
    ("mbti", "expected"),
    [
        ("INFJ", (0.67, 0.47, 0.51, 0.36, 0.33)),
        ("INFP", (0.67, 0.53, 0.21, 0.40, 0.17)),
        ("ESTJ", (0.33, 0.47, 0.79, 0.60, 0.83)),
        ("INTJ", (0.37, 0.37, 0.67, 0.26, 0.57)),
    ],
)
def test_a_type_becomes_the_published_traits(mbti, expected):
    assert traits_of(mbti) == pytest.approx(expected)


def test_there_are_sixteen_types_and_each_is_a_different_character_within_bounds():
    characters = {traits_of(mbti) for mbti in MBTI_TYPES}
    assert len(MBTI_TYPES) == len(characters) == 16
    assert all(0.0 <= trait <= 1.0 for character in characters for trait in character)


def test_the_case_of_a_type_does_not_matter():
    assert traits_of("infj") == traits_of(" InFj ") == traits_of("INFJ")


@pytest.mark.parametrize("mbti", ["", "INF", "XXXX", "JFNI", "INFJ-A", None, 7])
def test_a_bad_type_is_refused_with_what_is_expected(mbti):
    with pytest.raises(InvalidInput, match="four letters like INFJ"):
        traits_of(mbti)


def test_x_neutral_follows_the_traits():
    assert neutral(traits_of("INFJ"), DEFAULT) == pytest.approx((0.044, -0.029, -0.085))
    assert neutral((0.5,) * 5, DEFAULT) == (0.0, 0.0, 0.0)


def test_traits_survive_a_round_trip_and_cannot_be_changed():
    traits = traits_of("ENTP")
    assert Traits.from_dict(traits.to_dict()) == traits
    with pytest.raises(AttributeError):
        traits.empathy = 0.0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.1, 1.1, "0.5", None, True])
def test_traits_out_of_bounds_are_refused_by_name(bad):
    with pytest.raises(InvalidInput, match="stability"):
        Traits.from_dict(traits_of("ENTP").to_dict() | {"stability": bad})


@pytest.mark.parametrize("data", [None, [], {}, {"empathy": 0.5}])
def test_traits_need_exactly_the_five_names(data):
    with pytest.raises(InvalidInput, match="empathy, sensitivity, stability, expressiveness, dominance"):
        Traits.from_dict(data)
