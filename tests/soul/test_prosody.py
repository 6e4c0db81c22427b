from dataclasses import astuple, fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.soul.prosody import NEUTRAL, PITCH, RANGE, RATE, VOLUME, Prosody, in_words, prosody_of

NUMBER = st.floats(-1, 1, allow_nan=False)
BOUNDS = (RATE, PITCH, VOLUME, RANGE)
# How each factor moves with pleasure, arousal and dominance.
MOVES = {"rate": (1, 1, 0), "pitch": (1, 1, -1), "volume": (0, 1, 1), "range": (1, 1, 0)}


def test_a_soul_that_feels_nothing_in_particular_speaks_with_its_voice_as_it_is():
    assert prosody_of((0.0, 0.0, 0.0)) == NEUTRAL == Prosody(1.0, 1.0, 1.0, 1.0)
    assert in_words(NEUTRAL, "calm", "en") == in_words(NEUTRAL, "平静", "zh") == ""


@given(NUMBER, NUMBER, NUMBER)
def test_every_factor_is_bounded(p, a, d):
    for factor, (low, high) in zip(astuple(prosody_of((p, a, d))), BOUNDS, strict=True):
        assert low <= factor <= high


@given(NUMBER, NUMBER, NUMBER, st.sampled_from([0, 1, 2]), NUMBER)
def test_every_factor_moves_in_one_direction_only(p, a, d, axis, other):
    x = [p, a, d]
    y = [*x[:axis], other, *x[axis + 1 :]]
    low, high = sorted([x, y], key=lambda point: point[axis])
    for field in fields(Prosody):
        change = getattr(prosody_of(tuple(high)), field.name) - getattr(prosody_of(tuple(low)), field.name)
        assert change * MOVES[field.name][axis] >= 0
        if MOVES[field.name][axis] == 0:
            assert change == 0


def test_a_happy_excited_soul_is_faster_higher_and_louder_than_a_sad_one():
    excited, sad = prosody_of((0.7, 0.8, 0.2)), prosody_of((-0.6, -0.3, -0.4))
    assert all(one > other for one, other in zip(astuple(excited), astuple(sad), strict=True))


@pytest.mark.parametrize(
    ("x", "mood", "en", "zh"),
    [
        (
            (-0.6, -0.5, -0.3),
            ("sad", "难过"),
            "Sound sad; speak slowly, in a low voice, softly, with a flat melody.",
            None,
        ),
        ((0.7, 0.8, 0.2), ("excited", "激动"), None, "用激动的语气说，语速快，声音高，响亮，语调起伏。"),
        ((0.1, 0.0, 0.0), ("content", "满足"), "Sound content.", "用满足的语气说。"),
    ],
)
def test_the_words_say_what_the_numbers_do(x, mood, en, zh):
    for lang, word, told in (("en", mood[0], en), ("zh", mood[1], zh)):
        words = in_words(prosody_of(x), word, lang)
        assert word in words
        assert told is None or words == told
