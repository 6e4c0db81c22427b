import json
import re

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from soulgraph.prompts.cues import cued
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.offline_parsing import lines, tool_request_in
from soulgraph.voices.offline_reply import default_cues

CONTRACT = re.compile(r"<narrative>([^<>]+)</narrative><state_update_json>(\{.*\})</state_update_json>")


def read(answer):
    """The answer's two parts; anything around or between them fails."""
    narrative, update = CONTRACT.fullmatch(answer).groups()
    return narrative, json.loads(update)


@tool
def remember(fact: str) -> str:
    """Keep a fact."""
    return fact


@tool
def recall_memory(query: str) -> str:
    """Search memory."""
    return query


def turn(text, lang="zh"):
    return [cued("a prompt", {**default_cues(text), "lang": lang}), HumanMessage(text)]


def test_it_is_labelled_as_offline():
    reply = OfflineVoice().invoke([HumanMessage("hi")])
    assert OfflineVoice()._llm_type == "soulgraph-offline"
    assert reply.response_metadata["model_name"] == "offline"


@pytest.mark.parametrize(
    "messages", [[HumanMessage("今天下雨了")], [SystemMessage("Be nice."), HumanMessage("It rains")]]
)
def test_without_cues_it_is_still_a_model_that_keeps_the_contract(messages):
    reply, update = read(OfflineVoice().invoke(messages).text)
    assert messages[-1].text in reply
    assert update == {}


async def test_a_streamed_answer_joins_to_the_invoked_one():
    voice = OfflineVoice()
    messages = turn("今天下雨了")
    whole = await voice.ainvoke(messages)
    chunks = [chunk async for chunk in voice.astream(messages)]
    joined = sum(chunks[1:], chunks[0])
    assert len(chunks) > 5
    assert joined.text == whole.text == voice.invoke(messages).text
    assert "".join(chunk.text for chunk in voice.stream(messages)) == whole.text
    assert joined.response_metadata["model_name"] == "offline"


@pytest.mark.parametrize(
    ("text", "name", "args"),
    [
        ("记住我女儿叫米卡", "remember", {"fact": "我女儿叫米卡"}),
        ("please remember that I am allergic to nuts", "remember", {"fact": "I am allergic to nuts"}),
        ("你还记得我女儿的名字吗？", "recall_memory", {"query": "我女儿的名字"}),
        ("Do you remember my daughter?", "recall_memory", {"query": "my daughter"}),
    ],
)
async def test_a_wish_calls_its_tool_also_when_streamed(text, name, args):
    model = OfflineVoice().bind_tools([remember, recall_memory])
    call = (await model.ainvoke(turn(text))).tool_calls[0]
    streamed = [chunk async for chunk in model.astream(turn(text))]
    merged = sum(streamed[1:], AIMessageChunk("") + streamed[0])
    assert (call["name"], call["args"]) == (name, args)
    assert merged.tool_calls == [call]


@pytest.mark.parametrize("text", ["我记住了", "你记住了吗", "他没记住我的名字", "I can't remember that", "今天下雨了"])
def test_other_words_ask_for_no_tool(text):
    assert tool_request_in(text) is None


def test_a_tool_that_is_not_bound_is_not_called():
    model = OfflineVoice().bind_tools([recall_memory])
    assert not model.invoke(turn("记住我女儿叫米卡")).tool_calls


def after_tool(text, lang, content, status="success"):
    model = OfflineVoice().bind_tools([remember, recall_memory])
    asked = turn(text, lang)
    call = model.invoke(asked)
    result = ToolMessage(content, tool_call_id=call.tool_calls[0]["id"], status=status)
    reply = model.invoke([*asked, call, result])
    assert not reply.tool_calls
    return read(reply.text)[0]


def said(options, space=" "):
    return {line.replace(" | ", space) for line in options}


def test_after_the_tool_it_confirms_or_quotes():
    assert "我女儿叫米卡" in after_tool("记住我女儿叫米卡", "zh", "ok")
    assert "Mika went to sea" in after_tool("do you remember Mika?", "en", "Mika went to sea")
    found = (
        '{"told_by": "Ann", "fact": "Mika went to sea"}\n{"date": "2027-01-15", "speaker": "Ann", "said": "She left"}'
    )
    reply = after_tool("do you remember Mika?", "en", found)
    assert "Mika went to sea; She left" in reply
    assert "{" not in reply


@pytest.mark.parametrize("content", ["[]", "", "nothing found"])
def test_an_empty_recall_is_admitted(content):
    assert after_tool("do you remember Mika?", "en", content) in said(lines()["en"]["companion"]["forgotten"])


def test_a_failed_tool_is_never_confirmed():
    assert after_tool("记住我女儿叫米卡", "zh", "boom", "error") in said(
        lines()["zh"]["companion"]["not_remembered"], ""
    )
    assert after_tool("do you remember Mika?", "en", "boom", "error") in said(lines()["en"]["companion"]["forgotten"])


def test_history_between_prompt_and_input_does_not_confuse_it():
    prompt, user = turn("今天下雨了")
    history = [HumanMessage("记住我女儿叫米卡"), AIMessage("好")]
    model = OfflineVoice().bind_tools([remember])
    assert model.invoke([prompt, *history, user]).text == model.invoke([prompt, user]).text
