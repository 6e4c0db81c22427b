"""The model `plain` and the errands of programs: the language model without a soul, and no turn."""

import json

import openai
import pytest

from soulgraph.tests.live import new_soul, serving
from soulgraph.tests.stub_openai import Reply

TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}]
TAGS = (
    "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history.\n### Output:\n"
    'JSON format: { "tags": ["tag1", "tag2"] }\n### Chat History:\n<chat_history>\nUSER: hi\n</chat_history>'
)


def gpt(client):
    return openai.AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key="none", max_retries=0)


async def test_plain_is_the_language_model_as_it_is(modelled, stub):
    soul_id = await new_soul(modelled, "Mo")
    stub.script(Reply(text="Paris."), Reply(tool_calls=[{"name": "weather", "arguments": {"place": "Oslo"}}]))
    async with gpt(modelled) as client:
        said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Capital of France?"}]
        answer = await client.chat.completions.create(model="plain", messages=said, temperature=0.1, seed=7)
        assert answer.choices[0].message.content == "Paris."
        called = await client.chat.completions.create(
            model="plain", messages=said, tools=TOOLS, tool_choice="required", response_format={"type": "json_object"}
        )
        assert called.choices[0].message.tool_calls[0].function.name == "weather"
    sent = stub.requests[0].body
    assert (sent["model"], sent["messages"], sent["temperature"], sent["seed"]) == ("stub", said, 0.1, 7)
    assert stub.requests[1].body["tool_choice"] == "required"
    assert (await modelled.get(f"/v1/souls/{soul_id}")).json()["turns"] == 0
    assert (await modelled.get("/v1/sessions")).json() == []


async def test_plain_streams(modelled, stub):
    stub.default = Reply(text="The sea, the sea.")
    async with gpt(modelled) as client:
        stream = await client.chat.completions.create(
            model="plain", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream]) == "The sea, the sea."


async def test_trouble_of_the_language_model_is_told(modelled, stub):
    async with gpt(modelled) as client:

        async def refused(reply, kind, **fields):
            stub.default = reply
            with pytest.raises(kind) as told:
                await client.chat.completions.create(
                    model="plain", messages=[{"role": "user", "content": "hi"}], **fields
                )
            return told.value

        for stream in (False, True):
            assert (await refused(Reply(status=500), openai.InternalServerError, stream=stream)).status_code == 503
            assert (await refused(Reply(hang=True), openai.InternalServerError, stream=stream)).status_code == 504
            told = await refused(Reply(status=400, text="unknown field: x"), openai.BadRequestError, stream=stream)
            assert "unknown field: x" in told.message
            key = await refused(Reply(status=401, text="sk-secret"), openai.InternalServerError, stream=stream)
            assert (key.status_code, "sk-secret" in key.message) == (502, False)
        assert (await refused(Reply(garbage="<html>"), openai.InternalServerError)).status_code == 502


async def test_where_it_is_not_offered_there_is_none(stub, tmp_path, client):
    body = {"model": "plain", "messages": [{"role": "user", "content": "hi"}]}
    answer = await client.post("/v1/chat/completions", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_unavailable")
    assert (await client.get("/v1/models")).json()["data"] == []
    own = {"data_dir": tmp_path / "own", "llm_base_url": stub.base_url, "llm_model": "stub"}
    async with serving(plain_model=False, **own) as closed:
        assert (await closed.post("/v1/chat/completions", json=body)).status_code == 404
        assert (await closed.get("/v1/models/plain")).status_code == 404
    assert not stub.requests


async def test_an_errand_is_run_by_the_language_model_and_is_no_turn(modelled, stub):
    soul_id = await new_soul(modelled, "Mo")
    stub.default = Reply(text='{"tags": ["Sea"]}')
    for stream in (False, True):
        body = {"model": "soul:Mo", "messages": [{"role": "user", "content": TAGS}], "stream": stream}
        answer = await modelled.post("/v1/chat/completions", json=body)
        assert (answer.status_code, answer.headers["X-Soulgraph-Turn"]) == (200, "none")
    assert json.loads((await modelled.get(f"/v1/souls/{soul_id}")).text)["turns"] == 0
    assert (await modelled.get("/v1/sessions")).json() == []
    unknown = await modelled.post("/v1/chat/completions", json={**body, "model": "soul:nobody"})
    assert unknown.status_code == 404


async def test_without_a_model_an_errand_has_an_answer_that_its_program_can_read(client):
    await new_soul(client, "Mo")

    async def asked(text, **fields):
        body = {"model": "soul:Mo", "messages": [{"role": "user", "content": text}], **fields}
        return await client.post("/v1/chat/completions", json=body)

    answer = await asked(TAGS)
    assert json.loads(answer.json()["choices"][0]["message"]["content"]) == {"tags": ["General"]}
    title = await asked(
        "Give this conversation a title. Only return the title.\n\nUser: 我今天去了海边\nAssistant: 真好"
    )
    assert title.json()["choices"][0]["message"]["content"] == "我今天去了海边"
    streamed = await asked("ping", max_tokens=1, stream=True)
    assert "OK" in streamed.text
    assert streamed.text.endswith("data: [DONE]\n\n")
    summary = await asked("Summarize the following conversation. Return only the summary.\n\nUser: a\nAssistant: b")
    assert (summary.status_code, summary.json()["error"]["code"]) == (503, "model_unavailable")
    assert (await client.get("/v1/sessions")).json() == []
