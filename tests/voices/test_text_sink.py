"""The words of a stream go to the sink at once, and callbacks still learn what they need of it."""

import asyncio
from contextlib import asynccontextmanager

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage
from langchain_core.tracers import BaseTracer
from langgraph.graph import START, MessagesState, StateGraph

from soulgraph.errors import ModelError
from soulgraph.prompts.contract import STOP
from soulgraph.settings import Settings
from soulgraph.tests.stub_openai import Reply, StubOpenAI
from soulgraph.voices.factory import open_voice
from soulgraph.voices.reply_stream import ReplyStream
from soulgraph.voices.speech import speak
from soulgraph.voices.text_sink import current_sink, writing_to

ASKED = [HumanMessage("hi")]
WORDS = "<narrative>One two three four five six.</narrative><state_update_json>{}"


class Recorder(BaseTracer):
    """Keeps the runs of models as a tracer does."""

    def __init__(self):
        super().__init__()
        self.runs = []

    def _persist_run(self, run):
        self.runs.append(run)


class Tokens(BaseCallbackHandler):
    def __init__(self):
        self.heard = []

    def on_llm_new_token(self, token, **kwargs):
        self.heard.append(token)


@asynccontextmanager
async def voice_of(reply):
    async with (
        StubOpenAI(reply) as stub,
        open_voice(Settings.load(llm_base_url=stub.base_url, llm_model="stub").llm, ()) as voice,
    ):
        yield stub, voice


async def spoken(reply, *callbacks):
    """What was shown of an answer inside a graph with these callbacks, and the answer or the error."""
    shown = []
    async with voice_of(reply) as (_, voice):

        async def node(state):
            return {"messages": [await speak(voice.model, ASKED, ReplyStream(), shown.append, STOP["tags"])]}

        graph = StateGraph(MessagesState).add_node(node).add_edge(START, "node").compile()
        try:
            outcome = (await graph.ainvoke({"messages": []}, {"callbacks": list(callbacks)}))["messages"][-1]
        except ModelError as error:
            outcome = error
    return shown, outcome


async def test_a_trace_has_one_run_with_input_whole_answer_usage_and_the_time_of_the_first_token():
    recorder = Recorder()
    shown, answer = await spoken(Reply(text=WORDS, chunk_delay_s=0.002), recorder)
    assert len(shown) > 3
    [graph] = recorder.runs
    [run] = [child for node in graph.child_runs for child in node.child_runs if child.name == "voice"]
    assert "hi" in str(run.inputs)
    [[generation]] = run.outputs["generations"]
    assert generation["text"] == answer.text == WORDS
    message = generation["message"]["kwargs"]
    assert message["usage_metadata"]["output_tokens"] == 5
    assert message["response_metadata"]["finish_reason"] == "stop"
    tokens = [event for event in run.events if event["name"] == "new_token"]
    assert 1 <= len(tokens) <= 3
    assert tokens[0]["time"] < run.end_time


async def test_a_callback_that_wants_every_token_is_told_of_every_one():
    tokens = Tokens()
    shown, answer = await spoken(Reply(text=WORDS, chunk_size=4), tokens)
    assert len([token for token in tokens.heard if token]) == len(range(0, len(WORDS), 4))
    assert "".join(tokens.heard) == answer.text == WORDS
    assert "".join(shown) == "One two three four five six."


async def test_a_trace_of_an_answer_that_broke_off_has_what_came_of_it():
    recorder = Recorder()
    _, error = await spoken(Reply(text=WORDS, chunk_size=4, cut_after=7), recorder)
    assert isinstance(error, ModelError)
    [run] = [child for node in recorder.runs[0].child_runs for child in node.child_runs]
    assert run.error
    assert run.outputs["generations"][0][0]["text"] == WORDS[:24]


async def test_the_sink_says_when_it_has_had_enough_and_the_server_is_left():
    pieces = []

    def sink(piece):
        pieces.append(piece)
        return len(pieces) == 3

    async with voice_of(Reply(text=WORDS * 1000, chunk_size=4, chunk_delay_s=0.001)) as (stub, voice):
        with writing_to(sink):
            chunks = [chunk async for chunk in voice.model.astream(ASKED)]
        assert current_sink() is None
        assert "".join(chunk.text for chunk in chunks) == "".join(pieces) == WORDS[:12]
        async with asyncio.timeout(5):
            while stub._connections:
                await asyncio.sleep(0.01)


async def test_an_answer_in_a_response_format_comes_as_one_chunk():
    async with voice_of(Reply(text='{"a": 1}')) as (_, voice):
        chunks = [chunk async for chunk in voice.model.astream(ASKED, response_format={"type": "json_object"})]
    assert [chunk.text for chunk in chunks if chunk.text] == ['{"a": 1}']
    assert sum(chunks[1:], chunks[0]).usage_metadata["output_tokens"] == 5
