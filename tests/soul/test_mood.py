import re
from dataclasses import replace

import pytest

from soulgraph.soul.dynamics import born, evolve
from soulgraph.soul.mood import _POINTS, describe, mood_of
from soulgraph.soul.personality import MBTI_TYPES, traits_of

INFJ = traits_of("INFJ")


def feeling(x=(0.0, 0.0, 0.0), **happened):
    p, a, d = x
    return replace(born(INFJ, 0.0), p=p, a=a, d=d, **happened)


@pytest.mark.parametrize("mood", _POINTS)
def test_every_mood_is_found_at_its_point_when_its_cause_is_there(mood):
    point = _POINTS[mood]
    assert mood_of(feeling(point.x, **({point.cause: 0.9} if point.cause else {}))) == mood


def test_what_happened_tells_sorrow_from_boredom():
    low = (-0.38, -0.28, -0.2)
    assert mood_of(feeling(low, sorrow=0.6)) == "sad"
    assert mood_of(feeling(low, boredom=0.6)) == "bored"


def test_what_happened_tells_who_was_struck():
    stirred = (-0.5, 0.4, -0.3)
    assert mood_of(feeling(stirred, hurt=0.6)) == "hurt"
    assert mood_of(feeling(stirred, worry=0.6)) in ("afraid", "worried")


@pytest.mark.parametrize(
    ("p", "words"), [(-0.3, "slightly sad"), (-0.35, "clearly sad"), (-0.7, "strongly sad"), (-1.0, "strongly sad")]
)
def test_the_farthest_axis_sets_the_strength(p, words):
    assert describe(feeling((p, -0.15, -0.25), sorrow=0.9), "en") == words


@pytest.mark.parametrize("mbti", MBTI_TYPES)
def test_every_soul_is_born_calm(mbti):
    state = born(traits_of(mbti), 0.0)
    assert (describe(state, "en"), describe(state, "zh")) == ("calm", "平静")


@pytest.mark.parametrize("mbti", MBTI_TYPES)
def test_a_soul_left_alone_is_bored_after_half_an_hour_and_not_within_minutes(mbti):
    traits = traits_of(mbti)
    state = born(traits, 0.0)
    assert mood_of(evolve(traits, state, 300.0)) == "calm"
    assert mood_of(evolve(traits, state, 1800.0)) == "bored"


@pytest.mark.parametrize("mood", _POINTS)
def test_the_words_have_no_numbers_and_exist_in_both_languages(mood):
    state = feeling(_POINTS[mood].x, **({_POINTS[mood].cause: 0.9} if _POINTS[mood].cause else {}))
    en, zh = describe(state, "en"), describe(state, "zh")
    assert re.fullmatch(r"[a-z ]+", en)
    assert re.fullmatch(r"[\u4e00-\u9fff]+", zh)
