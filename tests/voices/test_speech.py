import asyncio
import socket
from contextlib import asynccontextmanager

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI

from soulgraph.errors import ModelError, ModelRefused, ModelTimeout, ModelUnavailable
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.prompts.contract import STOP
from soulgraph.prompts.cues import cued
from soulgraph.settings import Settings
from soulgraph.tests.stub_openai import SOUL_TURN, Reply, StubOpenAI
from soulgraph.voices.factory import open_voice
from soulgraph.voices.lean_openai import LeanChatOpenAI
from soulgraph.voices.reply_stream import ReplyStream
from soulgraph.voices.speech import speak, worth_retrying

WORDS = "<narrative>One two three four five.</narrative><state_update_json>{}</state_update_json>"
CALL = {"name": "remember", "arguments": {"fact": "likes rain"}}
CONVERSATION = [
    cued("You are Mika.", {"task": "turn", "secret": "cue"}),
    HumanMessage("你好"),
    AIMessage("", tool_calls=[{"name": "remember", "args": {"fact": "likes rain"}, "id": "call_1"}]),
    ToolMessage("noted", tool_call_id="call_1"),
    AIMessage("<narrative>Hi.</narrative>"),
    HumanMessage("and now?"),
]


@asynccontextmanager
async def voice_at(base_url, timeout_s=5.0):
    async with open_voice(
        Settings.load(llm_base_url=base_url, llm_model="stub", llm_timeout_s=timeout_s).llm, TOOLS
    ) as voice:
        yield voice


async def spoken(reply, timeout_s=5.0):
    """The answer, what was shown of it, and the error if there was one; asked only once in any case."""
    shown, answer, error = [], None, None
    async with StubOpenAI(reply) as stub, voice_at(stub.base_url, timeout_s) as voice:
        try:
            answer = await speak(voice.with_tools, CONVERSATION, ReplyStream(), shown.append, STOP["tags"])
        except ModelError as raised:
            error = raised
        assert len(stub.requests) == 1
    return answer, shown, error


async def test_the_narrative_is_shown_piece_by_piece_and_the_answer_is_whole():
    answer, shown, _ = await spoken(Reply(text=WORDS, chunk_size=7))
    assert "".join(shown) == "One two three four five."
    assert len(shown) > 2
    assert answer.text == WORDS.removesuffix("</state_update_json>")


@pytest.mark.parametrize("reply", [Reply(refusal="I cannot do that."), Reply(text="")], ids=["refusal", "empty"])
async def test_an_answer_without_a_word_is_empty_and_left_to_the_repair(reply):
    answer, shown, error = await spoken(reply)
    assert (answer.text, answer.tool_calls, shown, error) == ("", [], [], None)


async def test_reading_stops_behind_the_end_of_the_answer():
    endless = Reply(text=WORDS + "\nHuman: and then?" * 1000, chunk_delay_s=0.001)
    async with StubOpenAI(endless) as stub, voice_at(stub.base_url) as voice:
        answer = await speak(voice.model, CONVERSATION, ReplyStream(), lambda _: None)
    assert answer.text.startswith(WORDS)
    assert len(answer.text) < len(WORDS) + 20


async def test_an_answer_that_breaks_off_behind_its_narrative_is_taken_as_it_is():
    answer, shown, error = await spoken(Reply(text=WORDS, cut_after=13))
    assert "".join(shown) == "One two three four five."
    assert error is None
    assert answer.text.startswith("<narrative>One two three four five.</narrative>")


class FallsSilent:
    """A model that says this much, and then nothing until the time is up."""

    def __init__(self, text):
        self._text = text

    async def astream(self, *args, **options):
        yield AIMessageChunk(self._text)
        raise TimeoutError


async def test_an_answer_that_falls_silent_behind_its_narrative_is_taken_as_it_is():
    shown = []
    words = "<narrative>One two three.</narrative><state"
    answer = await speak(FallsSilent(words), CONVERSATION, ReplyStream(), shown.append)
    assert ("".join(shown), answer.text) == ("One two three.", words)
    with pytest.raises(ModelTimeout):
        await speak(FallsSilent("<narrative>One two"), CONVERSATION, ReplyStream(), shown.append)


async def test_a_tool_call_is_no_refusal_and_shows_nothing():
    answer, shown, _ = await spoken(Reply(tool_calls=[CALL]))
    assert [(call["name"], call["args"]) for call in answer.tool_calls] == [("remember", {"fact": "likes rain"})]
    assert shown == []


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(text=WORDS, finish_reason="content_filter"), "content filter"),
        (Reply(status=400, text="too many tokens"), "too many tokens"),
        (Reply(status=401, text="bad key"), "SOULGRAPH_LLM_API_KEY"),
        (Reply(status=403, text="not yours"), "SOULGRAPH_LLM_API_KEY"),
        (Reply(status=404, text="no such model"), "`soulgraph model`"),
    ],
    ids=["filter", "400", "401", "403", "404"],
)
async def test_an_answer_that_says_no_is_refused_and_not_retried(reply, why):
    _, _, error = await spoken(reply)
    assert type(error) is ModelRefused
    assert error.code == "model_refused"
    assert why in error.detail
    assert not worth_retrying(error)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(status=401, text="Incorrect API key provided: sk-proj-abc123def"), "key"),
        (Reply(status=404, text="no such model sk-proj-abc123def"), "unknown_model"),
        (Reply(status=429, text="sk-proj-abc123def has no credit"), "busy"),
        (Reply(status=503, text="down for sk-proj-abc123def"), "failed"),
        (Reply(cut_after=0), "unreachable"),
        (Reply(status=400, text="no {json}, sk-proj-abc123def"), "request"),
        (Reply(garbage="<html>sk-proj-abc123def"), "failed"),
    ],
)
async def test_whose_fault_it_was_is_told_without_the_providers_secrets(reply, reason):
    _, _, error = await spoken(reply)
    assert error.problem()["reason"] == reason
    assert "sk-proj" not in error.detail


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=500),
        Reply(status=503),
        Reply(status=429, retry_after_s=1),
        Reply(cut_after=0),
        Reply(text=WORDS, cut_after=2),
        Reply(garbage="<html>a proxy's page</html>"),
        Reply(garbage="data: {broken\n\n"),
        Reply(garbage='data: ["no", "completion"]\n\n'),
        Reply(garbage="nonsense", status=502),
    ],
    ids=["500", "503", "429", "closed", "cut", "html", "broken json", "no completion", "502"],
)
async def test_a_model_that_cannot_be_reached_is_worth_another_try(reply):
    _, shown, error = await spoken(reply)
    assert type(error) is ModelUnavailable
    assert error.code == "model_unavailable"
    assert shown == []
    assert worth_retrying(error)


async def test_nobody_listening_is_unavailable_too():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        async with voice_at(f"http://127.0.0.1:{closed.getsockname()[1]}/v1") as voice:
            with pytest.raises(ModelUnavailable) as caught:
                await speak(voice.with_tools, CONVERSATION, ReplyStream(), lambda _: None)
    assert worth_retrying(caught.value)


async def test_an_answer_cut_after_its_first_words_is_not_worth_another_try():
    _, shown, error = await spoken(Reply(text=WORDS, cut_after=6))
    assert "".join(shown).startswith("One two")
    assert type(error) is ModelUnavailable
    assert not worth_retrying(error)


async def test_a_tool_call_cut_off_by_the_output_limit_is_not_run():
    _, _, error = await spoken(Reply(tool_calls=[CALL], finish_reason="length"))
    assert type(error) is ModelUnavailable
    assert "output limit" in error.detail
    assert not worth_retrying(error)


@pytest.mark.parametrize("reply", [Reply(hang=True), Reply(text=WORDS, chunk_delay_s=2)], ids=["hang", "stall"])
async def test_a_silent_model_is_a_timeout_that_names_its_setting(reply):
    async with asyncio.timeout(10):
        _, shown, error = await spoken(reply, timeout_s=0.3)
    assert type(error) is ModelTimeout
    assert error.code == "model_timeout"
    assert "SOULGRAPH_LLM_TIMEOUT_S" in error.detail
    assert shown == []
    assert not worth_retrying(error)


async def test_a_slow_model_may_take_longer_in_all_than_its_longest_silence():
    answer, shown, _ = await spoken(Reply(text=WORDS, chunk_size=20, chunk_delay_s=0.1), timeout_s=0.3)
    assert "".join(shown) == "One two three four five."
    assert answer.text == WORDS.removesuffix("</state_update_json>")


@pytest.mark.parametrize("bind", [{}, {"tool_choice": "none"}, None], ids=["tools", "no more tools", "without tools"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_the_lean_client_sends_what_the_plain_one_sends(bind, streaming):
    async with StubOpenAI() as stub:
        for kind in (ChatOpenAI, LeanChatOpenAI):
            model = kind(model="stub", base_url=stub.base_url, api_key="none", temperature=0.5, extra_body={"top_k": 3})
            speaker = model if bind is None else model.bind_tools(TOOLS, **bind)
            if streaming:
                assert "".join([chunk.text async for chunk in speaker.astream(CONVERSATION)]) == SOUL_TURN
            else:
                assert (await speaker.ainvoke(CONVERSATION)).text == SOUL_TURN
        plain, lean = [request.body for request in stub.requests]
    assert lean == plain
    assert len(lean["messages"]) == len(CONVERSATION)


async def test_cues_never_leave_the_house():
    async with StubOpenAI() as stub, voice_at(stub.base_url) as voice:
        await speak(voice.without_tools, CONVERSATION, ReplyStream(), lambda _: None)
        sent = stub.requests[0]
    assert b"secret" not in sent.raw
    assert sent.body["messages"][0] == {"role": "system", "content": "You are Mika."}
    assert sent.body["tool_choice"] == "none"
    assert [tool["function"]["name"] for tool in sent.body["tools"]] == ["remember", "recall_memory", "note"]
