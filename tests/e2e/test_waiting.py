"""A slow model: every kind of stream shows that the turn is alive."""

import re

import openai
import pytest

from soulgraph.runtime.silence import WaitIntervals
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.live import hear, new_soul, serving
from soulgraph.tests.stub_openai import SOUL_TURN, Reply

HELLO = {"model": "soul:Mo", "messages": [{"role": "user", "content": "hello"}], "stream": True}


@pytest.fixture
async def slow(stub, tmp_path):
    """A server that tells of every hundredth of a second in which its model says nothing."""
    stub.default = Reply(text=SOUL_TURN, chunk_delay_s=0.05, chunk_size=16)
    model = {"llm_base_url": stub.base_url, "llm_model": "stub"}
    async with serving(wait_intervals=WaitIntervals(0.01, 0.01), data_dir=tmp_path, **model) as client:
        yield client


def waits(events):
    return [data for name, data in events if name == "waiting"]


async def test_a_stream_says_that_it_waits_and_for_what(slow):
    events = [event async for event in hear(slow, "hello", soul_id=await new_soul(slow))]
    assert {"seconds": 0, "for": "model"} in waits(events)
    assert events[-1][0] == "done"
    assert "".join(data["text"] for name, data in events if name == "token") == "I hear you."


async def test_so_does_a_socket_with_the_ids_of_the_turn(slow):
    async with line(slow) as one:
        await one.chat("hello", soul_id=await new_soul(slow), session_id="s", input_id="a")
        frames = await one.until("done")
    waiting = [frame for frame in frames if frame["event"] == "waiting"]
    assert {(frame["session_id"], frame["input_id"]) for frame in waiting} == {("s", "a")}
    assert {"seconds": 0, "for": "model"} in [frame["data"] for frame in waiting]


async def test_clients_of_openai_get_a_comment_which_they_do_not_see(slow):
    await new_soul(slow, "Mo")
    raw = (await slow.post("/v1/chat/completions", json=HELLO)).text
    assert re.search(r"^: waiting \d s\n\n", raw, re.MULTILINE)
    assert "event:" not in raw
    async with openai.AsyncOpenAI(base_url=f"{slow.base_url}/v1", api_key="none") as client:
        chunks = [chunk async for chunk in await client.chat.completions.create(**HELLO)]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "I hear you."
