"""The meter counts every model call made inside its block, in whatever task or node, and no other."""

import asyncio
from contextlib import asynccontextmanager, suppress

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.graph import START, MessagesState, StateGraph

from soulgraph.errors import ModelError
from soulgraph.prompts.contract import STOP
from soulgraph.settings import Settings
from soulgraph.tests.stub_openai import SOUL_TURN, Reply, StubOpenAI
from soulgraph.voices.factory import open_voice
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.reply_stream import ReplyStream
from soulgraph.voices.speech import speak
from soulgraph.voices.usage import Usage, current_meter, metered

ASKED = [SystemMessage("You are Mika."), HumanMessage("你好吗")]
ESTIMATE = 4 + 3
REPORTED = Usage(1, 10, 5)


@asynccontextmanager
async def model_answering(**reply):
    async with StubOpenAI(Reply(**{"text": SOUL_TURN} | reply)) as stub:
        settings = Settings.load(llm_base_url=stub.base_url, llm_model="stub", llm_timeout_s=0.2)
        async with open_voice(settings.llm, ()) as voice:
            yield stub, voice.model


async def streamed(model):
    with suppress(ModelError):
        await speak(model, ASKED, ReplyStream(), lambda _: None, STOP["tags"])


async def test_a_streamed_answer_is_asked_for_its_cost_also_from_another_server_than_openai_s():
    async with model_answering() as (stub, model):
        with metered() as meter:
            await streamed(model)
        assert stub.requests[0].body["stream_options"] == {"include_usage": True}
    assert meter.spent == REPORTED


async def test_a_whole_answer_is_counted_as_told():
    async with model_answering() as (_, model):
        with metered() as meter:
            await model.ainvoke(ASKED)
    assert meter.spent == REPORTED


async def test_what_a_server_does_not_tell_is_estimated_from_the_texts():
    async with model_answering(text="一二三 four", usage=False) as (_, model):
        with metered() as whole:
            await model.ainvoke(ASKED)
        with metered() as flowing:
            await streamed(model)
    assert whole.spent == flowing.spent == Usage(1, ESTIMATE, 3 + 2)


async def test_an_answer_of_tool_calls_alone_is_estimated_too():
    call = {"name": "remember", "arguments": {"fact": "likes rain"}}
    async with model_answering(text="", tool_calls=[call], usage=False) as (_, model):
        with metered() as meter:
            await streamed(model)
    assert meter.spent.output_tokens > 5


@pytest.mark.parametrize(
    ("reply", "cost"),
    [
        ({"status": 500}, Usage(1)),
        ({"status": 401}, Usage(1)),
        ({"cut_after": 0}, Usage(1)),
        ({"text": "four" * 10, "chunk_size": 8, "cut_after": 3}, Usage(1, ESTIMATE, 4)),
        ({"hang": True}, Usage(1, ESTIMATE)),
    ],
    ids=["failed", "refused", "away", "broken off", "silent"],
)
async def test_a_call_that_fails_has_cost_what_was_read_and_said(reply, cost):
    async with model_answering(**reply) as (_, model):
        with metered() as meter:
            await streamed(model)
    assert meter.spent == cost


@pytest.mark.parametrize("ask", [streamed, lambda model: model.ainvoke(ASKED)], ids=["streamed", "whole"])
async def test_a_model_that_nobody_waits_for_any_more_has_read_the_question(ask):
    async with model_answering(hang=True) as (stub, model):
        with metered() as meter:
            asked = asyncio.create_task(ask(model))
            while not stub.requests:
                await asyncio.sleep(0.01)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
    assert meter.spent == Usage(1, ESTIMATE)


async def test_calls_in_nodes_and_tasks_are_counted_and_those_of_a_neighbour_are_not():
    async with model_answering() as (_, model):

        async def node(state):
            await asyncio.create_task(streamed(model))
            return {"messages": [await model.ainvoke(ASKED)]}

        graph = StateGraph(MessagesState).add_node(node).add_edge(START, "node").compile()

        async def turn(times):
            with metered() as meter:
                for _ in range(times):
                    await graph.ainvoke({"messages": []})
            return meter.spent

        assert await asyncio.gather(turn(1), turn(2)) == [Usage(2, 20, 10), Usage(4, 40, 20)]


async def test_an_inner_meter_takes_over_and_hands_back():
    async with model_answering() as (_, model):
        with metered() as outer:
            with metered() as inner:
                await model.ainvoke(ASKED)
            assert current_meter() is outer
            await model.ainvoke(ASKED)
        await model.ainvoke(ASKED)
    assert (outer.spent, inner.spent) == (REPORTED, REPORTED)
    assert not current_meter().spent


async def test_the_offline_voice_costs_nothing():
    with metered() as meter:
        await OfflineVoice().ainvoke(ASKED)
        await streamed(OfflineVoice())
    assert not meter.spent
