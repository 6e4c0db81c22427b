"""Lists that must name the same things do."""

from typing import get_args

from soulgraph.prompts.context import MODES
from soulgraph.soul.emotions import EMOTIONS, NEGATIVE, POSITIVE, SOOTHING
from soulgraph.soul.modes import Mode
from soulgraph.soul.preference_words import describe_preference
from soulgraph.voices.offline_parsing import lines


def test_every_mode_has_its_text_and_its_name_in_both_languages():
    modes = get_args(Mode)
    assert set(MODES) == set(modes)
    for mode in modes:
        assert mode not in describe_preference("mode", mode, "zh")


def test_every_emotion_belongs_to_one_group_of_the_offline_voice():
    groups = lines()["emotion_groups"]
    grouped = [emotion for group in groups.values() for emotion in group]
    assert sorted(grouped) == sorted(set(grouped))
    assert set(grouped) <= set(EMOTIONS)
    assert set(EMOTIONS) >= SOOTHING | POSITIVE | NEGATIVE
