"""A server that refuses `stream_options` is asked again without them, and from then on never with them."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from soulgraph.errors import ModelRefused
from soulgraph.settings import Settings
from soulgraph.tests.stub_openai import SOUL_TURN, Reply, StubOpenAI
from soulgraph.voices.factory import open_voice
from soulgraph.voices.reply_stream import ReplyStream
from soulgraph.voices.speech import speak
from soulgraph.voices.usage import Usage, metered

ASKED = [SystemMessage("You are Mika."), HumanMessage("你好吗")]
ESTIMATE = 4 + 3
ASKS_TO_COUNT = '"stream_options":'
REFUSALS = {
    "OpenAI": (400, "Unrecognized request argument supplied: stream_options"),
    "a part of it": (400, "unknown field `include_usage`"),
    "checked by pydantic": (422, "body.stream_options: Extra inputs are not permitted"),
}


@asynccontextmanager
async def refusing(status, text):
    async with StubOpenAI(Reply(text=SOUL_TURN, usage=False)) as stub:
        stub.when(ASKS_TO_COUNT, Reply(status=status, text=text))
        async with open_voice(Settings.load(llm_base_url=stub.base_url, llm_model="stub").llm, ()) as voice:
            yield stub, voice


async def answer_text(voice):
    return (await speak(voice.with_tools, ASKED, ReplyStream(), lambda _: None)).text


def counting(stub):
    return ["stream_options" in request.body for request in stub.requests]


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS.keys())
async def test_the_answer_comes_without_and_the_next_one_is_asked_for_once(refusal, caplog):
    async with refusing(*refusal) as (stub, voice):
        assert await answer_text(voice) == SOUL_TURN
        assert counting(stub) == [True, False]
        assert await answer_text(voice) == SOUL_TURN
        assert counting(stub) == [True, False, False]
    [warning] = [record.message for record in caplog.records if record.name.startswith("soulgraph")]
    assert "refuses stream_options" in warning
    assert "estimated" in warning


async def test_what_it_costs_is_one_call_and_an_estimate():
    async with refusing(*REFUSALS["OpenAI"]) as (_, voice):
        with metered() as first:
            await answer_text(voice)
        with metered() as second:
            await answer_text(voice)
    assert first.spent == second.spent
    assert (first.spent.calls, first.spent.input_tokens) == (1, ESTIMATE)
    assert first.spent.output_tokens > 5


async def test_answers_under_way_at_the_same_time_all_come_and_it_is_logged_once(caplog):
    async with refusing(*REFUSALS["OpenAI"]) as (stub, voice):
        assert await asyncio.gather(*(answer_text(voice) for _ in range(5))) == [SOUL_TURN] * 5
        assert counting(stub).count(False) == 5
    assert caplog.text.count("refuses stream_options") == 1


async def test_a_refusal_for_another_reason_is_an_error_at_once():
    async with refusing(400, "too many tokens") as (stub, voice):
        with pytest.raises(ModelRefused, match="too many tokens"):
            await answer_text(voice)
        assert counting(stub) == [True]


async def test_a_server_that_refuses_also_without_is_not_remembered_and_its_last_word_is_the_error():
    async with refusing(400, "what about stream_options?") as (stub, voice):
        stub.script(Reply(status=400, text="too many tokens"))
        with metered() as meter, pytest.raises(ModelRefused, match="too many tokens"):
            await answer_text(voice)
        assert meter.spent == Usage(1)
        assert await answer_text(voice) == SOUL_TURN
        assert counting(stub) == [True, False, True, False]
