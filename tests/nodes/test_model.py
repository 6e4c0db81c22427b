import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.tool import tool_call

from soulgraph.nodes.context import Limits
from soulgraph.nodes.model import model, tools_or_end
from soulgraph.nodes.state import reply_id
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.prompts.contract import narrative_of
from soulgraph.prompts.cues import cued
from soulgraph.prompts.layers import example_replies
from soulgraph.stores.records import Terminal
from soulgraph.tests.nodes.samples import HURT, Scripted, gate, run_loop_node, utterance
from soulgraph.tests.stores.samples import NOW
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Habits, Voice

CALL = tool_call(name="remember", args={"fact": "likes rain"}, id="call_1")
WAVE = {"name": "wave", "description": "", "input_schema": {"type": "object", "properties": {}}}
MONOLOGUE = "Nobody must ever know that I am afraid of the deep water under the pier."
LAST_REPLY = "The boats come back at five, and then the whole harbour smells of tar."
ROBOT = Terminal("robot-1", "soul_1", [WAVE], 1, [], 0, NOW)


def answering(text="", calls=()):
    return Scripted(answers=[AIMessage(text, tool_calls=list(calls))])


async def spoken(speaker, text="你好", tools=TOOLS, max_steps=6, habits=None, **state):
    asked = {"utterance": utterance(text), "messages": [HumanMessage(text)], "terminal": None, "gate": gate(), **state}
    voice = Voice("v", speaker, tools, habits or Habits())
    return await run_loop_node(model, asked, voice=voice, limits=Limits(max_steps=max_steps))


def prompt(text, *replies):
    """The messages of a turn after these replies, with what no reply may copy."""
    earlier = [one for reply in replies for one in (HumanMessage("And?"), AIMessage(reply))]
    return [
        cued("You are Mika.", {"user_text": text, "soul_name": "Mika", "secrets": [MONOLOGUE]}),
        *earlier,
        HumanMessage(text),
    ]


async def test_the_narrative_and_nothing_else_is_shown_as_it_arrives():
    ran = await spoken(OfflineVoice())
    assert len(ran.tokens) > 1
    assert "".join(ran.tokens) == ran.state["shown"] == narrative_of(ran.state["output"])
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


@pytest.mark.parametrize("terminal", [None, ROBOT])
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
    await spoken(speaker, "记住，我喜欢下雨", terminal=ROBOT)
    offered = [tool["function"]["name"] for tool in speaker.offered[0]["tools"]]
    assert offered == ["remember", "recall_memory", "note", "wave"]


async def test_the_model_is_told_only_of_what_can_serve():
    small_talk, closed = answering("<narrative>Hi.</narrative>"), answering("<narrative>Hi.</narrative>")
    await spoken(small_talk, terminal=ROBOT)
    await spoken(closed, terminal=ROBOT, gate=gate(HURT))
    assert [tool["function"]["name"] for tool in small_talk.offered[0]["tools"]] == ["wave"]
    assert "tools" not in closed.offered[0]


async def test_a_call_of_a_tool_that_was_not_offered_is_passed_on_all_the_same():
    ran = await spoken(answering(calls=[CALL]), "你好")
    assert await tools_or_end(ran.state) == "tools"


async def test_the_offline_voice_answers_in_words_when_it_may_call_no_tools():
    ran = await spoken(OfflineVoice(), "请记住我喜欢下雨", max_steps=1)
    assert narrative_of(ran.state["output"])


async def test_an_answer_without_tags_is_shown_from_its_first_words_if_the_model_just_talks():
    ran = await spoken(answering("Good evening, how was the sea?"), habits=Habits("plain"))
    assert ran.tokens[0] in "Good evening"
    assert "".join(ran.tokens) == ran.state["shown"] == "Good evening, how was the sea?"


async def test_an_answer_without_tags_is_shown_also_if_tags_were_expected():
    ran = await spoken(answering("Good evening."))
    assert ran.state["shown"] == "Good evening."


async def test_thoughts_are_not_shown():
    ran = await spoken(answering("<think>They seem sad.</think>Good evening."), habits=Habits("plain"))
    assert "".join(ran.tokens) == ran.state["shown"] == "Good evening."


async def test_a_call_that_is_written_as_text_is_run_and_not_shown():
    written = '{"name": "remember", "arguments": {"fact": "likes rain"}}'
    ran = await spoken(answering(written), "记住，我喜欢下雨", habits=Habits("tags"))
    [call] = ran.state["messages"][-1].tool_calls
    assert (call["name"], call["args"]) == ("remember", {"fact": "likes rain"})
    assert (ran.tokens, await tools_or_end(ran.state)) == ([], "tools")


@pytest.mark.parametrize(
    ("written", "options"),
    [
        ('{"name": "remember", "arguments": {"fact": "likes rain"}}', {"text": "你好"}),
        ('{"name": "remember", "arguments": {"fact": "likes rain"}}', {"text": "记住，我喜欢下雨", "max_steps": 1}),
        ('{"name": "remember", "arguments": {"colour": "red"}}', {"text": "记住，我喜欢下雨"}),
        ("I could remember(fact) that for you.", {"text": "记住，我喜欢下雨"}),
    ],
    ids=["not offered", "in the last step", "wrong arguments", "a sentence"],
)
async def test_a_text_that_is_no_call_is_not_run(written, options):
    ran = await spoken(answering(written), **options)
    assert ran.state["messages"][-1].tool_calls == []
    assert await tools_or_end(ran.state) == "__end__"


async def test_a_copy_of_the_users_line_is_not_shown():
    text = "The old boat is lying on the beach again, and nobody cares for it."
    ran = await spoken(answering(f"<narrative>{text}</narrative>"), messages=prompt(text))
    assert (ran.tokens, ran.state["shown"]) == ([], "")
    assert "copies a line" in ran.state["fault"]


async def test_a_copy_of_an_earlier_reply_is_not_shown():
    last = f"<narrative>{LAST_REPLY}</narrative><state_update_json>{{}}</state_update_json>"
    ran = await spoken(answering(LAST_REPLY), messages=prompt("And then?", last), habits=Habits("plain"))
    assert (ran.tokens, ran.state["shown"]) == ([], "")
    assert "copies a line" in ran.state["fault"]


@pytest.mark.parametrize("example", example_replies())
async def test_the_example_of_the_contract_is_no_answer(example):
    ran = await spoken(answering(f"<narrative>{example}</narrative>"), messages=prompt("And then?"))
    assert (ran.tokens, ran.state["shown"]) == ([], "")
    assert "copies a line" in ran.state["fault"]


async def test_the_monologue_is_not_recited():
    ran = await spoken(answering(f"Well. {MONOLOGUE}"), messages=prompt("What is it?"), habits=Habits("plain"))
    assert "deep water" not in ran.state["shown"]
    assert "copies a secret" in ran.state["fault"]


@pytest.mark.parametrize("carrier", ["tags", "plain"])
async def test_a_loop_is_cut_and_what_was_said_before_it_stands(carrier):
    words = "Good evening to you. " + "And then the rain came down. " * 40
    text = f"<narrative>{words}" if carrier == "tags" else words
    ran = await spoken(answering(text), habits=Habits(carrier))
    assert ran.state["shown"].startswith("Good evening to you. And then the rain came down.")
    assert len(ran.state["shown"]) < 120
    assert len(ran.state["output"]) < len(text) / 2, "the rest was not read"


async def test_a_weak_model_is_told_of_a_terminals_skills_and_may_call_them_in_text_but_not_of_memory_tools():
    speaker = answering('{"name": "wave", "arguments": {}}')
    terminal = Terminal("robot-1", "soul_1", [WAVE], 1, [], 0, NOW)
    ran = await spoken(speaker, "记住，我喜欢下雨", terminal=terminal, habits=Habits("plain"))
    assert [tool["function"]["name"] for tool in speaker.offered[0]["tools"]] == ["wave"]
    assert [call["name"] for call in ran.state["messages"][-1].tool_calls] == ["wave"]
    assert ran.tokens == []
