"""OpenAI's Responses API, with its own client."""

import json

import openai
import pytest

from soulgraph.tests.live import new_soul, transcript
from soulgraph.tests.stub_openai import SOUL_TURN, Reply


@pytest.fixture
async def gpt(modelled):
    await new_soul(modelled, "Mo")
    async with openai.AsyncOpenAI(base_url=f"{modelled.base_url}/v1", api_key="none", max_retries=0) as client:
        yield client


async def sessions(client):
    return (await client.get("/v1/sessions")).json()


async def test_a_response_is_a_turn_and_the_next_one_follows_it(modelled, gpt):
    first = await gpt.responses.create(model="soul:Mo", input="hello")
    second = await gpt.responses.create(model="soul:Mo", input="and you?", previous_response_id=first.id)
    assert (first.output_text, first.status, first.usage.total_tokens) == ("I hear you.", "completed", 15)
    assert second.previous_response_id == first.id
    [session] = await sessions(modelled)
    assert session["turn"] == 2
    again = await gpt.responses.create(model="soul:Mo", input="or you?", previous_response_id=first.id)
    assert again.output_text == "I hear you."
    said = [text for role, text in await transcript(modelled, session["session_id"]) if role == "user"]
    assert said == ["hello", "or you?"]


async def test_a_stream_has_openai_s_typed_events(gpt):
    async with gpt.responses.stream(model="soul:Mo", input=[{"role": "user", "content": "hello"}]) as stream:
        kinds = [event.type async for event in stream]
        final = await stream.get_final_response()
    assert final.output_text == "I hear you."
    assert kinds[0] == "response.created"
    assert kinds[-1] == "response.completed"
    assert "response.output_text.delta" in kinds


async def test_the_whole_conversation_is_understood(modelled, gpt):
    talk = []
    for line in ("hello there", "I like rain", "and snow"):
        talk.append({"role": "user", "content": [{"type": "input_text", "text": line}]})
        answer = await gpt.responses.create(model="soul:Mo", input=talk, instructions="Be a pirate.", tools=[])
        talk.append({"role": "assistant", "content": [{"type": "output_text", "text": answer.output_text}]})
    [session] = await sessions(modelled)
    talk[-2]["content"][0]["text"] = "and sun"
    await gpt.responses.create(model="soul:Mo", input=talk[:-1])
    assert len(await transcript(modelled, session["session_id"])) == 6
    assert len(await sessions(modelled)) == 1


async def test_what_cannot_be_is_told_as_openai_tells_it(modelled, gpt, stub):
    with pytest.raises(openai.NotFoundError):
        await gpt.responses.create(model="soul:Mo", input="hello", previous_response_id="resp_nothing")
    with pytest.raises(openai.BadRequestError) as forced:
        await gpt.responses.create(model="soul:Mo", input="hello", tool_choice="required", tools=[])
    assert forced.value.param == "tool_choice"
    for body in ({"input": []}, {"input": 7}, {"input": [{"type": "function_call_output", "output": "x"}]}, {}):
        answer = await modelled.post("/v1/responses", json={"model": "soul:Mo", **body})
        assert (answer.status_code, answer.json()["error"]["type"]) == (400, "invalid_request_error")
    stub.default = Reply(status=500, text="down")
    with pytest.raises(openai.InternalServerError):
        await gpt.responses.create(model="soul:Mo", input="hello")


async def test_a_stream_that_breaks_off_ends_with_an_error(modelled, gpt, stub):
    stub.script(Reply(text=SOUL_TURN.replace("I hear you.", "I hear you. " * 9), cut_after=16, chunk_delay_s=0.01))
    stub.default = Reply(status=500, text="down")
    raw = await modelled.post("/v1/responses", json={"model": "soul:Mo", "input": "hello", "stream": True})
    events = [json.loads(line[6:]) for line in raw.text.splitlines() if line.startswith("data: ")]
    assert [event["sequence_number"] for event in events] == [*range(len(events))]
    assert (events[-1]["type"], events[-1]["code"][:6]) == ("error", "model_")


async def test_a_title_is_no_turn_here_either(modelled, gpt, stub):
    stub.default = Reply(text="Harbour Walk")
    prompt = "Generate a short title for this conversation. Return only the title.\n\nUser: I walked\nAssistant: Nice."
    answer = await gpt.responses.create(model="soul:Mo", input=prompt)
    assert answer.output_text == "Harbour Walk"
    assert await sessions(modelled) == []
