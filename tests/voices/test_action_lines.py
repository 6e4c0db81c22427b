from dataclasses import replace
from importlib.resources import files

import pytest
import yaml

from soulgraph.senses.intents.decision import MatchedIntent
from soulgraph.soul.dynamics import born
from soulgraph.soul.personality import traits_of
from soulgraph.voices.action_lines import action_line

LINES = yaml.safe_load((files("soulgraph.voices") / "action_lines.yaml").read_text("utf-8"))
MOODS = {"warm": 0.5, "even": 0.0, "cold": -0.5}


def intent(name="开灯", question=None):
    status = "need_clarification" if question else "ready"
    return MatchedIntent(
        intent_id=name, intent_name=name, confidence=1, parameters={}, status=status, question=question, why=""
    )


def line_for(*intents, p=0.0, text="开灯", lang="zh", reached=True):
    return action_line(intents, reached, replace(born(traits_of("INFJ"), 0.0), p=p), text, lang)


@pytest.mark.parametrize("tone", MOODS)
@pytest.mark.parametrize("lang", ["zh", "en"])
def test_every_mood_has_its_own_lines_in_both_languages(lang, tone):
    lines = {line_for(intent(), p=MOODS[tone], text=f"text {n}", lang=lang) for n in range(50)}
    assert lines == {line.format(done="开灯") for line in LINES[lang][tone]}
    assert all("开灯" in line for line in lines)


@pytest.mark.parametrize(("p", "tone"), [(0.16, "warm"), (0.15, "even"), (-0.15, "even"), (-0.16, "cold")])
def test_the_tone_follows_the_mood(p, tone):
    assert line_for(intent(), p=p) in {line.format(done="开灯") for line in LINES["zh"][tone]}


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
    lines = {line_for(intent("X"), p=0.5, text=f"text {n}", lang=lang, reached=False) for n in range(50)}
    assert lines == {line.format(done="X") for line in LINES[lang]["unreached"]}
