import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.tool import tool_call

from soulgraph.nodes.context import Limits
from soulgraph.nodes.model import model, tools_or_end
from soulgraph.nodes.state import reply_id
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.prompts.contract import read_narrative
from soulgraph.stores.records import Terminal
from soulgraph.tests.nodes.samples import Scripted, run_loop_node, utterance
from soulgraph.tests.stores.samples import NOW
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Voice

CALL = tool_call(name="remember", args={"fact": "likes rain"}, id="call_1")
WAVE = {"name": "wave", "description": "", "input_schema": {"type": "object", "properties": {}}}


def answering(text="", calls=()):
    return Scripted(answers=[AIMessage(text, tool_calls=list(calls))])


async def spoken(speaker, text="你好", tools=TOOLS, max_steps=6, **state):
    asked = {"utterance": utterance(text), "messages": [HumanMessage(text)], "terminal": None, **state}
    return await run_loop_node(model, asked, voice=Voice("v", speaker, tools), limits=Limits(max_steps=max_steps))


async def test_the_narrative_and_nothing_else_is_shown_as_it_arrives():
    ran = await spoken(OfflineVoice())
    assert len(ran.tokens) > 1
    assert "".join(ran.tokens) == ran.state["shown"] == read_narrative(ran.state["output"])
    assert "state_update_json" in ran.state["output"]


async def test_a_parent_that_streams_messages_sees_the_same_tokens_and_not_the_message_itself():
    ran = await spoken(OfflineVoice())
    assert [one.text for one in ran.messages] == ran.tokens
    assert {one.id for one in ran.messages} == {reply_id(utterance())}
    assert ran.state["messages"][-1].text == ran.state["output"]


async def test_a_tool_call_is_passed_on_and_shows_nothing():
    speaker = answering(calls=[CALL])
    ran = await spoken(speaker)
    assert [call["name"] for call in ran.state["messages"][-1].tool_calls] == ["remember"]
    assert await tools_or_end(ran.state) == "tools"
    assert (ran.tokens, ran.state["steps"]) == ([], 1)
    assert "tool_choice" not in speaker.offered[0]


@pytest.mark.parametrize("terminal", [None, Terminal("robot-1", "soul_1", [WAVE], 1, [], 0, NOW)])
async def test_the_last_step_that_is_allowed_may_call_no_tools(terminal):
    speaker = answering("<narrative>Well.</narrative>", [CALL])
    ran = await spoken(speaker, max_steps=2, steps=1, terminal=terminal)
    assert speaker.offered[0]["tool_choice"] == "none"
    assert ran.state["messages"][-1].tool_calls == []
    assert await tools_or_end(ran.state) == "__end__"
    assert ran.state["output"] == "<narrative>Well.</narrative>"


async def test_a_second_step_begins_a_new_paragraph():
    ran = await spoken(answering("<narrative>Second.</narrative>"), shown="First.", steps=1)
    assert ran.tokens[0].startswith("\n\nS")
    assert ran.state["shown"] == "First.\n\nSecond."
    assert "".join(ran.tokens) == "\n\nSecond."


async def test_a_second_step_that_says_nothing_adds_no_paragraph():
    ran = await spoken(answering(calls=[CALL]), shown="First.", steps=1)
    assert (ran.tokens, ran.state["shown"]) == ([], "First.")


async def test_the_skills_of_the_terminal_are_offered_beside_the_tools():
    speaker = answering("<narrative>Hi.</narrative>")
    await spoken(speaker, terminal=Terminal("robot-1", "soul_1", [WAVE], 1, [], 0, NOW))
    offered = [tool["function"]["name"] for tool in speaker.offered[0]["tools"]]
    assert offered == ["remember", "recall_memory", "note", "wave"]


async def test_the_offline_voice_answers_in_words_when_it_may_call_no_tools():
    ran = await spoken(OfflineVoice(), "请记住我喜欢下雨", max_steps=1)
    assert read_narrative(ran.state["output"])
