import re
from dataclasses import replace

import pytest

from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.mood import describe
from soulgraph.soul.personality import MBTI_TYPES, traits_of

INFJ = traits_of("INFJ")


def feeling(p, a, d):
    return replace(born(INFJ, 0.0), p=p, a=a, d=d)


@pytest.mark.parametrize(
    ("x", "en", "zh"),
    [
        ((0.5, 0.5, 0.5), "clearly exuberant", "明显欢欣"),
        ((0.5, 0.5, -0.5), "clearly dependent", "明显依恋"),
        ((0.5, -0.5, 0.5), "clearly relaxed", "明显放松"),
        ((0.5, -0.5, -0.5), "clearly docile", "明显温顺"),
        ((-0.5, 0.5, 0.5), "clearly hostile", "明显敌对"),
        ((-0.5, 0.5, -0.5), "clearly anxious", "明显焦虑"),
        ((-0.5, -0.5, 0.5), "clearly disdainful", "明显轻蔑"),
        ((-0.5, -0.5, -0.5), "clearly bored", "明显无聊"),
    ],
)
def test_every_octant_has_its_word_in_both_languages(x, en, zh):
    assert describe(feeling(*x), "en") == en
    assert describe(feeling(*x), "zh") == zh


@pytest.mark.parametrize(
    ("z", "strength"),
    [
        (0.15, "slightly"),
        (0.34, "slightly"),
        (0.35, "clearly"),
        (0.69, "clearly"),
        (0.7, "strongly"),
        (1.0, "strongly"),
    ],
)
def test_the_farthest_axis_sets_the_strength(z, strength):
    assert describe(feeling(z, -0.15, 0.15), "en") == f"{strength} relaxed"


def test_within_the_middle_zone_the_mood_is_even():
    assert describe(feeling(0.149, -0.149, 0.149), "en") == "even"
    assert describe(feeling(0.0, 0.0, 0.0), "zh") == "平静"


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ((0.3, 0.0, -0.1), "slightly pleased"),
        ((-0.8, 0.1, 0.1), "strongly displeased"),
        ((0.0, 0.4, 0.0), "clearly stirred"),
        ((0.0, -0.4, 0.0), "clearly subdued"),
        ((0.0, 0.0, 0.2), "slightly assured"),
        ((0.0, 0.0, -0.2), "slightly unsure"),
    ],
)
def test_one_axis_alone_is_named_for_itself_and_not_for_an_octant(x, words):
    assert describe(feeling(*x), "en") == words


@pytest.mark.parametrize("mbti", MBTI_TYPES)
def test_a_soul_left_alone_is_bored_in_words_without_numbers(mbti):
    traits = traits_of(mbti)
    alone = evolve(traits, born(traits, 0.0), 7200.0)
    assert describe(alone, "en") == "clearly bored"
    assert not re.search(r"[\d.]", describe(alone, "en") + describe(alone, "zh"))
