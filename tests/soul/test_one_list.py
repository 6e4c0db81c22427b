"""Lists that must name the same things do."""

from itertools import product
from typing import get_args

from soulgraph.prompts.gate_lines import gate_lines
from soulgraph.prompts.persona import MODES
from soulgraph.soul.emotions import EMOTIONS, NEGATIVE, POSITIVE, SOOTHING
from soulgraph.soul.gate import GateReason
from soulgraph.soul.gate_words import gate_words
from soulgraph.soul.language import Lang
from soulgraph.soul.modes import Mode
from soulgraph.soul.preference_words import describe_preference
from soulgraph.voices.offline_parsing import lines


def test_every_mode_has_its_text_and_its_name_in_both_languages():
    modes = get_args(Mode)
    assert set(MODES) == set(get_args(Lang))
    assert all(set(texts) == set(modes) and all(texts.values()) for texts in MODES.values())
    for mode in modes:
        assert mode not in describe_preference("mode", mode, "zh")


def test_every_emotion_belongs_to_one_group_of_the_offline_voice():
    grouped = [emotion for group in lines()["emotion_groups"].values() for emotion in group]
    assert sorted(grouped) == sorted(set(grouped))
    assert set(grouped) <= set(EMOTIONS)
    assert set(EMOTIONS) >= SOOTHING | POSITIVE | NEGATIVE


def test_every_mood_belongs_to_one_group_of_the_offline_voice():
    moods = "sad moved tender worried hurt afraid angry sulky bored tired content cheerful elated excited proud calm"
    assert sorted(mood for group in lines()["mood_groups"].values() for mood in group) == sorted(moods.split())


def test_every_reason_of_a_closed_gate_has_its_words():
    for reason, lang in product(get_args(GateReason), get_args(Lang)):
        assert all(gate_words(reason, lang).values())
        [told] = gate_lines(reason, [], lang)
        assert gate_words(reason, lang)["why"] in told and gate_words(reason, lang)["helps"] in told
