from importlib.resources import files

import pytest
import yaml

from soulgraph.senses.intents.decision import MatchedIntent
from soulgraph.soul.character_words import grades_of
from soulgraph.soul.personality import MBTI_TYPES, traits_of
from soulgraph.voices.action_lines import action_line
from soulgraph.voices.lines import Speaker

LINES = yaml.safe_load((files("soulgraph.voices") / "action_lines.yaml").read_text("utf-8"))
MOODS = {"glad": "cheerful", "even": "calm", "sad": "worried", "sore": "hurt", "flat": "bored"}
MIDDLE = dict.fromkeys(grades_of(traits_of("INFJ")), 3)


def intent(name="开灯", question=None):
    status = "need_clarification" if question else "ready"
    return MatchedIntent(
        intent_id=name, intent_name=name, confidence=1, parameters={}, status=status, question=question, why=""
    )


def line_for(*intents, mood="calm", grades=MIDDLE, text="开灯", lang="zh", reached=True):
    return action_line(intents, reached, Speaker(mood, grades), text, lang)


def said(lines, lang, done="开灯"):
    return {line.replace(" | ", "" if lang == "zh" else " ").format(done=done) for line in lines}


@pytest.mark.parametrize("group", MOODS)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_mood_has_its_own_lines_in_both_languages(lang, group):
    lines = {line_for(intent(), mood=MOODS[group], text=f"text {n}", lang=lang) for n in range(50)}
    assert lines == said(LINES[lang][group], lang)
    assert all("开灯" in line for line in lines)


@pytest.mark.parametrize("lang", ["zh", "en"])
@pytest.mark.parametrize("mood", MOODS.values())
def test_a_reserved_soul_is_brief_and_an_expressive_one_exclaims_unless_it_is_low(lang, mood):
    texts = [f"text {n}" for n in range(20)]
    reserved, expressive = (
        [line_for(intent(), mood=mood, grades=grades_of(traits_of(mbti)), text=text, lang=lang) for text in texts]
        for mbti in ("ISTJ", "ENFP")
    )
    shorts = {line.partition(" | ")[0].format(done="开灯") for lines in LINES[lang].values() for line in lines}
    assert set(reserved) <= shorts
    exclaimed = [line.startswith(tuple(LINES[lang]["interjection"])) for line in expressive]
    assert exclaimed == [mood in ("cheerful", "calm")] * len(texts)


def test_every_type_does_it_in_its_own_words():
    texts = [f"text {n}" for n in range(30)]
    spoken = [tuple(line_for(intent(), grades=grades_of(traits_of(m)), text=t) for t in texts) for m in MBTI_TYPES]
    assert len(set(spoken)) == len(MBTI_TYPES)


def test_the_same_words_get_the_same_line():
    assert line_for(intent(), text="开灯吧") == line_for(intent(), text="开灯吧")


def test_all_that_is_done_is_named():
    assert "开灯、关窗" in line_for(intent("开灯"), intent("关窗"))
    assert "light on, fan off" in line_for(intent("light on"), intent("fan off"), lang="en")


def test_what_is_missing_is_asked_after_what_is_done():
    asked = line_for(intent("开灯"), intent("调温", question="调到多少度？"))
    assert asked.endswith(" 调到多少度？")
    assert "开灯" in asked
    assert "调温" not in asked.removesuffix("调到多少度？")
    assert line_for(intent("调温", question="调到多少度？")) == "调到多少度？"


def test_an_intent_s_name_is_data():
    assert "{done} {0}" in line_for(intent("{done} {0}"))


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_device_that_was_not_reached_is_never_said_to_have_done_it(lang):
    enfp = grades_of(traits_of("ENFP"))
    for mood in MOODS.values():
        texts = [f"text {n}" for n in range(50)]
        lines = {line_for(intent("X"), mood=mood, grades=enfp, text=t, lang=lang, reached=False) for t in texts}
        assert lines == said(LINES[lang]["unreached"], lang, done="X")
