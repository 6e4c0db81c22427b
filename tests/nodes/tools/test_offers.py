"""Which tools a turn is offered, and by which words of the user. `offers_held.yaml` was never fitted to."""

from pathlib import Path

import pytest
import yaml
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool

from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.nodes.tools.offers import concerns_memory, offered
from soulgraph.stores.records import Terminal
from soulgraph.tests.nodes.samples import HURT, gate, utterance
from soulgraph.tests.stores.samples import NOW

HERE = Path(__file__).parent
WAVE = {"name": "wave", "description": "", "input_schema": {"type": "object", "properties": {}}}
ROBOT = Terminal("robot-1", "soul_1", [WAVE], 1, [], 0, NOW)
MEMORY = ["remember", "recall_memory", "note"]
BENCH = HERE.parents[2] / "bench" / "data"


@tool
def forecast(city: str) -> str:
    """The weather, as an embedder's tool tells it."""
    return city


def turn(text, **state):
    return {"utterance": utterance(text), "messages": [HumanMessage(text)], "gate": gate(), "terminal": None, **state}


def names(state):
    tools, skills = offered(state, [*TOOLS, forecast])
    return [one.name for one in tools], [skill.tool for skill in skills]


def sentences(half):
    found = yaml.safe_load((HERE / f"offers_{half}.yaml").read_text("utf-8"))
    return [(text, kind == "useful") for kind, texts in found.items() for text in texts]


@pytest.mark.parametrize(("text", "useful"), sentences("open"))
def test_memory_is_offered_where_the_words_can_use_it(text, useful):
    assert concerns_memory(text) == useful


def test_it_is_also_by_words_that_were_held_aside():
    right = [concerns_memory(text) == useful for text, useful in sentences("held")]
    assert sum(right) / len(right) >= 0.9


def test_questions_about_a_long_life_mostly_and_small_talk_hardly_ever():
    lived = yaml.safe_load((BENCH / "long_conversation.yaml").read_text("utf-8"))["questions"]
    others = [
        text
        for texts in yaml.safe_load((BENCH / "nothing_to_recall.yaml").read_text("utf-8")).values()
        for text in texts
    ]
    assert sum(concerns_memory(one["text"]) for one in lived) / len(lived) > 0.75
    assert sum(map(concerns_memory, others)) / len(others) < 0.05


def test_traditional_characters_and_curly_apostrophes_are_read():
    assert concerns_memory("請記住我的生日")
    assert concerns_memory("DON’T FORGET my exam")


def test_a_very_long_text_is_searched_in_its_beginning_alone():
    assert not concerns_memory("哈" * 5000 + "记住")


def test_tools_of_others_are_always_offered():
    assert names(turn("你好")) == (["forecast"], [])
    assert names(turn("记住我喜欢下雨")) == ([*MEMORY, "forecast"], [])


def test_skills_are_offered_while_the_gate_is_open():
    assert names(turn("你好", terminal=ROBOT)) == (["forecast"], ["wave"])
    assert names(turn("你好", terminal=ROBOT, gate=gate(HURT))) == (["forecast"], [])


@pytest.mark.parametrize("later", [{"steps": 1}, {"messages": [ToolMessage("done", tool_call_id="c")]}])
def test_once_a_tool_was_used_all_are_offered_again(later):
    assert names(turn("你好", **later)) == ([*MEMORY, "forecast"], [])
