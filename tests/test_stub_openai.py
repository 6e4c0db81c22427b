"""The stub model server, as the real clients see it over HTTP."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from langchain_core import exceptions as langchain
from langchain_core.messages import AIMessageChunk
from langchain_openai import ChatOpenAI, StreamChunkTimeoutError

from soulgraph.tests.stub_openai import CHAT, SOUL_TURN, Reply, StubOpenAI

ZH = "<narrative>我听见你了，别怕 🫶🏽。</narrative>"
WAVE = {"name": "wave", "arguments": {"hand": "左", "times": 3}}
BLINK = {"name": "blink", "arguments": {}}


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(verify=False) as client:
        yield client


@pytest.fixture
async def stub() -> AsyncIterator[StubOpenAI]:
    async with StubOpenAI() as server:
        yield server


def chat(http: httpx2.AsyncClient, base_url: str, **options: Any) -> ChatOpenAI:
    # Left out, the blocking client would be built anyway and load certificates, 50 ms each time.
    clients = {"http_async_client": http, "http_client": httpx2.Client(verify=False)}
    return ChatOpenAI(model="any", base_url=base_url, api_key="sk-test", max_retries=0, **clients, **options)


@pytest.fixture
def model(http: httpx2.AsyncClient, stub: StubOpenAI) -> ChatOpenAI:
    return chat(http, stub.base_url)


async def spoken(model: ChatOpenAI) -> AIMessageChunk:
    """The streamed chunks, added up as a caller would."""
    chunks = [chunk async for chunk in model.astream("hello")]
    return sum(chunks[1:], chunks[0])


@pytest.mark.parametrize("chunk_size", [1, 3, 7, 4096])
@pytest.mark.parametrize("text", [SOUL_TURN, ZH])
async def test_streamed_deltas_join_to_the_text(stub, model, text, chunk_size):
    stub.script(Reply(text=text, chunk_size=chunk_size))
    deltas = [chunk.content async for chunk in model.astream("hello") if chunk.content]
    assert "".join(deltas) == text
    assert {len(delta) for delta in deltas[:-1]} <= {chunk_size}


async def test_characters_travel_whole_as_utf8(stub, http):
    stub.script(Reply(text=ZH, chunk_size=1))
    response = await http.post(stub.base_url + "/chat/completions", json={"stream": True})
    events = response.content.removesuffix(b"data: [DONE]\n\n").split(b"\n\n")[:-1]
    deltas = [json.loads(event.removeprefix(b"data: "))["choices"][0]["delta"] for event in events]
    assert [delta["content"] for delta in deltas if delta.get("content")] == list(ZH)
    assert "🫶".encode() in response.content


async def test_streamed_tool_calls_arrive_assembled(stub, model):
    stub.script(Reply(text="Watch.", tool_calls=[WAVE, BLINK], chunk_size=2))
    message = await spoken(model)
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [
        (call["name"], call["arguments"]) for call in (WAVE, BLINK)
    ]
    assert len({call["id"] for call in message.tool_calls}) == 2
    assert message.content == "Watch."
    assert message.response_metadata["finish_reason"] == "tool_calls"


async def test_a_whole_answer_has_text_usage_and_finish_reason(model):
    message = await model.ainvoke("hello")
    assert message.content == SOUL_TURN
    assert message.usage_metadata["total_tokens"] == 15
    assert message.response_metadata["finish_reason"] == "stop"


async def test_a_whole_answer_carries_tool_calls_even_broken_ones(stub, model):
    stub.script(Reply(tool_calls=[WAVE, {"name": "blink", "arguments": "{oops"}]))
    message = await model.ainvoke("hello")
    assert [call["args"] for call in message.tool_calls] == [WAVE["arguments"]]
    assert [call["args"] for call in message.invalid_tool_calls] == ["{oops"]


async def test_usage_is_streamed_only_when_asked_for(stub, http, model):
    assert (await spoken(model)).usage_metadata is None
    counted = await spoken(chat(http, stub.base_url, stream_usage=True))
    assert counted.usage_metadata["input_tokens"] == 10


async def test_a_text_ends_before_a_stop_word_unless_the_server_ignores_it(stub, model):
    stub.script(Reply(text="one two three"), Reply(text="one two three", ignores_stop=True))
    assert [(await model.ainvoke("hello", stop=[" three", "two"])).text for _ in range(2)] == ["one ", "one two three"]


@pytest.mark.parametrize("finish_reason", ["length", "content_filter"])
async def test_the_finish_reason_can_be_scripted(stub, model, finish_reason):
    stub.script(Reply(text="I was about to", finish_reason=finish_reason))
    assert (await spoken(model)).response_metadata["finish_reason"] == finish_reason


@pytest.mark.parametrize(
    ("status", "of_openai", "of_langchain"),
    [
        (400, openai.BadRequestError, langchain.ModelInvalidRequestError),
        (401, openai.AuthenticationError, langchain.ModelAuthenticationError),
        (404, openai.NotFoundError, langchain.ModelNotFoundError),
        (429, openai.RateLimitError, langchain.ModelRateLimitError),
        (500, openai.InternalServerError, langchain.ModelAPIError),
        (503, openai.InternalServerError, langchain.ModelAPIError),
    ],
)
async def test_an_error_status_raises_its_class_in_both_trees(stub, model, status, of_openai, of_langchain):
    stub.script(*[Reply(status=status, text="no luck", retry_after_s=7)] * 2)
    with pytest.raises(of_langchain, match="no luck"):
        await spoken(model)
    with pytest.raises(of_openai) as caught:
        await model.ainvoke("hello")
    assert caught.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("cut_after", [0, 1, 3, 99])
async def test_a_cut_answer_raises_after_what_was_sent(stub, model, cut_after):
    stub.script(*[Reply(text="hello world", chunk_size=1, cut_after=cut_after)] * 2)
    received = ""
    with pytest.raises(langchain.ModelConnectionError):
        async for chunk in model.astream("hello"):
            received += chunk.content
    assert received == "hello world"[: max(0, cut_after - 1)]
    with pytest.raises(openai.APIConnectionError):
        await model.ainvoke("hello")


async def test_silence_before_the_first_byte_is_a_timeout(stub, http):
    stub.script(Reply(hang=True), Reply(delay_s=5))
    impatient = chat(http, stub.base_url, timeout=0.05)
    for _ in range(2):
        with pytest.raises(langchain.ModelTimeoutError):
            await spoken(impatient)


async def test_a_stall_between_deltas_is_a_timeout(stub, http):
    stub.script(*[Reply(text="hello world", chunk_delay_s=5)] * 2)
    with pytest.raises(langchain.ModelTimeoutError):
        await spoken(chat(http, stub.base_url, timeout=0.05))
    with pytest.raises(StreamChunkTimeoutError):
        await spoken(chat(http, stub.base_url, stream_chunk_timeout=0.05))


async def test_slow_deltas_still_join(stub, model):
    stub.script(Reply(text="hello", chunk_size=1, delay_s=0.01, chunk_delay_s=0.002))
    assert (await spoken(model)).content == "hello"


async def test_a_whole_refusal_is_in_additional_kwargs(stub, model):
    stub.script(Reply(refusal="I will not."))
    message = await model.ainvoke("hello")
    assert (message.content, message.additional_kwargs["refusal"]) == ("", "I will not.")


async def test_a_streamed_refusal_is_on_the_wire_though_langchain_drops_it(stub, http, model):
    stub.script(*[Reply(refusal="I will not.")] * 2)
    client = openai.AsyncOpenAI(base_url=stub.base_url, api_key="sk-test", http_client=http)
    stream = await client.chat.completions.create(model="any", messages=[], stream=True)
    assert "".join([c.choices[0].delta.refusal or "" async for c in stream]) == "I will not."
    message = await spoken(model)
    assert (message.content, message.additional_kwargs) == ("", {})


@pytest.mark.parametrize(
    ("garbage", "error"),
    [
        ("data: {oops\n\n", json.JSONDecodeError),
        ("<html>busy</html>", ValueError),
        ('data: {"error": {"message": "overloaded"}}\n\n', openai.APIError),
    ],
)
async def test_garbage_goes_out_raw(stub, model, garbage, error):
    stub.script(Reply(garbage=garbage))
    with pytest.raises(error):
        await spoken(model)


async def test_replies_are_used_in_order_then_the_default(stub, model):
    stub.default = Reply(text="always")
    stub.script(Reply(text="first"), Reply(text="second"))
    answers = [(await model.ainvoke("hello")).content for _ in range(4)]
    assert answers == ["first", "second", "always", "always"]


async def test_replies_by_words_can_be_set_over_http(stub, model):
    async with httpx2.AsyncClient(base_url=stub.base_url.replace("/v1", "")) as client:
        assert (await client.put("/_when", json={"weather": {"text": "rain"}})).status_code == 200
    assert (await model.ainvoke("the weather?")).content == "rain"
    assert (await model.ainvoke("hello")).content != "rain"


@pytest.mark.parametrize(
    ("stop", "text"), [(["three", "two"], "one "), ("three", "one two "), (["four"], "one two three")]
)
async def test_an_answer_ends_where_the_request_says(stub, model, stop, text):
    stub.default = Reply(text="one two three")
    assert (await model.ainvoke("hi", stop=stop)).text == text
    assert "".join([chunk.text async for chunk in model.astream("hi", stop=stop)]) == text


async def test_every_answer_has_its_own_id(model):
    ids = [(await model.ainvoke("hello")).response_metadata["id"] for _ in range(3)]
    assert len(set(ids)) == 3


async def test_requests_are_recorded_with_headers_and_body(stub, model):
    await spoken(model)
    (request,) = stub.requests
    assert (request.path, request.headers["authorization"]) == (CHAT, "Bearer sk-test")
    assert request.body["messages"] == [{"role": "user", "content": "hello"}]


async def test_a_connection_serves_many_requests(stub, http):
    streams = [(await http.get(stub.base_url + "/models")).extensions["network_stream"] for _ in range(2)]
    assert len({stream.get_extra_info("client_addr") for stream in streams}) == 1


async def test_models_and_embeddings_answer_the_openai_client(stub, http):
    client = openai.AsyncOpenAI(base_url=stub.base_url, api_key="sk-test", http_client=http)
    assert [listed.id async for listed in client.models.list()] == ["stub-model"]
    packed = await client.embeddings.create(model="any", input=["你好", "hello", "你好"])
    plain = await client.embeddings.create(model="any", input="hello", encoding_format="float")
    first, second, third = [item.embedding for item in packed.data]
    assert first == third != second
    assert second == pytest.approx(plain.data[0].embedding)
    assert sum(value**2 for value in second) == pytest.approx(1)


async def test_leaving_does_not_wait_for_a_hanging_answer(http):
    async with StubOpenAI(Reply(hang=True)) as stub:
        waiting = asyncio.create_task(chat(http, stub.base_url).ainvoke("hello"))
        while not stub.requests:
            await asyncio.sleep(0.001)
    with pytest.raises(langchain.ModelConnectionError):
        await waiting


@pytest.fixture
async def remote(http: httpx2.AsyncClient) -> AsyncIterator[str]:
    """The address of a stub in its own process."""
    program = Path(__file__).with_name("stub_openai.py")
    process = await asyncio.create_subprocess_exec(
        sys.executable, program, "--port", "0", stdout=asyncio.subprocess.PIPE
    )
    word, base_url = (await process.stdout.readline()).decode().split()
    assert word == "listening"
    yield base_url
    process.terminate()
    await process.communicate()


async def test_the_process_is_steered_over_http(remote, http):
    control, model = remote.removesuffix("/v1"), chat(http, remote)
    await http.put(control + "/_default", json={"text": "as ever"})
    await http.post(control + "/_script", json=[{"text": "你好"}, {"tool_calls": [WAVE]}, {"status": 429}])
    assert (await spoken(model)).content == "你好"
    assert (await spoken(model)).tool_calls[0]["args"] == WAVE["arguments"]
    with pytest.raises(langchain.ModelRateLimitError):
        await spoken(model)
    assert (await spoken(model)).content == "as ever"
    recorded = (await http.get(control + "/_requests")).json()
    assert [request["body"]["messages"][0]["content"] for request in recorded] == ["hello"] * 4
    await http.delete(control + "/_requests")
    assert (await http.get(control + "/_requests")).json() == []


async def test_a_misspelt_script_or_path_is_refused(stub, http):
    root = stub.base_url.removesuffix("/v1")
    assert (await http.post(root + "/_script", json=[{"txet": "hi"}])).status_code == 400
    assert (await http.get(root + "/v1/responses")).status_code == 404
