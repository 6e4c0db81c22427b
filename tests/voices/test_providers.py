"""Every provider's wire behaviour, as far as it is known here: `wire/` says what was recorded and what was read."""

import json

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from soulgraph.errors import ModelRefused, ModelUnavailable
from soulgraph.senses.endpoint import Endpoint
from soulgraph.settings import Settings
from soulgraph.tests.voices.wire_server import PROVIDERS, WireServer, wire_file
from soulgraph.voices import lean_openai
from soulgraph.voices.factory import open_voice
from soulgraph.voices.providers import (
    ModelInfo,
    _client,
    context_tokens,
    described,
    find_model,
    model_info,
    offered_models,
)
from soulgraph.voices.usage import metered

ASKED = [HumanMessage("Say hello to Lin.")]


@tool
def light(on: bool) -> str:
    """Turn the light on or off."""
    return "done"


def endpoint_of(server, **settings):
    given = {"llm_base_url": server.base_url, "llm_model": server.wire["model"], "llm_temperature": 0.3, **settings}
    return Settings.load(**given).llm


@pytest.fixture(params=PROVIDERS)
def wire(request, monkeypatch):
    """What one provider sends; a server that plays OpenAI is taken for OpenAI."""
    wire = wire_file(request.param)
    if wire["limit"] == "max_completion_tokens":
        monkeypatch.setattr(lean_openai, "_OPENAI_HOST", "127.0.0.1")
    return wire


def test_the_eight_providers_are_here_and_each_says_where_it_is_from():
    names = ["anthropic", "deepseek", "llama_cpp", "lm_studio", "ollama", "openai", "qwen", "vllm"]
    assert names == PROVIDERS
    assert {wire_file(name)["source"] for name in PROVIDERS} == {"recorded", "documentation"}


async def test_a_streamed_reply_arrives_whole_and_clean_and_is_counted(wire):
    async with WireServer(wire) as server, open_voice(endpoint_of(server), [light]) as voice:
        with metered() as meter:
            chunks = [chunk async for chunk in voice.with_tools.astream(ASKED, stop=["\n\n\n"])]
    answer = sum(chunks[1:], chunks[0])
    expected = wire["expected"]
    assert answer.text == expected["text"]
    assert answer.response_metadata["finish_reason"] == "stop"
    assert (meter.spent.calls, meter.spent.input_tokens) == (1, expected["input_tokens"])
    assert meter.spent.output_tokens == expected["output_tokens"]
    assert answer.additional_kwargs == {}
    assert "greeting is wanted" not in repr(chunks)
    assert "user is called" not in repr(chunks)


async def test_the_request_has_the_output_limit_under_the_provider_s_name(wire):
    async with WireServer(wire) as server, open_voice(endpoint_of(server), [light]) as voice:
        await voice.with_tools.ainvoke(ASKED, stop=["END"], stream=True)
        [sent] = server.chats
    limits = {name: sent[name] for name in ("max_tokens", "max_completion_tokens") if name in sent}
    assert limits == {wire["limit"]: 2000}
    assert sent["stop"] == ["END"]
    assert sent["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_refused_parameter_is_left_out_once_and_for_good(wire, streamed, caplog):
    refused = wire["refusal"]["parameter"]
    wire["plain"] = completion("Hello, Lin.")
    async with WireServer(wire, refuses=True) as server, open_voice(endpoint_of(server), ()) as voice:
        speaker = voice.model.bind_tools([light], tool_choice="none" if refused == "tools" else "any", stop=["END"])
        for _ in range(2):
            if streamed:
                assert "".join([chunk.text async for chunk in speaker.astream(ASKED)]) == "Hello, Lin."
            else:
                assert (await speaker.ainvoke(ASKED)).text == "Hello, Lin."
        sent = [refused in chat for chat in server.chats]
    assert sent == [True, False, False]
    [warning] = [record.message for record in caplog.records if record.name.startswith("soulgraph")]
    assert refused in warning


async def test_the_models_are_listed(wire):
    async with WireServer(wire) as server:
        models = await offered_models(endpoint_of(server))
    assert wire["model"] in [model.name for model in models]


async def test_the_context_length_and_the_capabilities_are_read_where_they_are_told(wire):
    async with WireServer(wire) as server:
        info = await model_info(endpoint_of(server))
        assert await context_tokens(endpoint_of(server)) == info.context_tokens
    expected = wire["expected"]
    assert info == ModelInfo(wire["model"], expected["context_tokens"], frozenset(expected["capabilities"]))


async def test_a_refused_key_is_said_when_listing_and_not_when_asking_for_the_context(wire):
    async with WireServer(wire, key="sk-right") as server:
        right, wrong = (endpoint_of(server, llm_api_key=key) for key in ("sk-right", "sk-wrong"))
        assert await offered_models(right)
        with pytest.raises(ModelRefused, match="answered 401: the key is refused; check SOULGRAPH_LLM_API_KEY"):
            await offered_models(wrong)
        assert await context_tokens(wrong) is None


# What else servers answer


def completion(content, **more):
    message = {"role": "assistant", "content": content, **more}
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": usage,
    }


def server_of(answers):
    return WireServer({"base": "/v1", "model": "m", "answers": answers})


async def info_of(answers, model="m"):
    async with server_of(answers) as server:
        return await model_info(Endpoint(model, server.base_url))


async def test_nothing_that_answers_is_an_error_when_listing_and_unknown_otherwise():
    nowhere = Endpoint("m", "http://127.0.0.1:1/v1")
    with pytest.raises(ModelUnavailable, match="check SOULGRAPH_LLM_BASE_URL"):
        await offered_models(nowhere)
    assert await model_info(nowhere) == ModelInfo("m")


@pytest.mark.parametrize("listed", ["<html>", "[]", "null", '{"data": {}}', '{"error": "Unexpected endpoint"}'])
async def test_what_is_no_list_of_models_is_none(listed):
    async with server_of({"GET /v1/models": listed}) as server:
        assert await offered_models(Endpoint("m", server.base_url)) is None
    assert await info_of({"GET /v1/models": listed}) == ModelInfo("m")


async def test_entries_that_are_no_models_are_passed_over():
    listed = {"data": [None, {"id": 5}, {"object": "model"}, {"id": "m", "max_model_len": "long"}]}
    async with server_of({"GET /v1/models": listed}) as server:
        assert await offered_models(Endpoint("m", server.base_url)) == [ModelInfo("m")]


async def test_an_ollama_without_openai_s_list_is_asked_for_its_own():
    async with server_of({"GET /api/tags": {"models": [{"name": "llama3:latest"}]}}) as server:
        models = await offered_models(Endpoint("llama3", server.base_url))
    assert [model.name for model in models] == ["llama3:latest"]
    assert find_model(models, "llama3") == find_model(models, "llama3:latest") == models[0]
    assert find_model(models, "llama") is None


@pytest.mark.parametrize(
    ("show", "loaded", "context"),
    [
        ({"model_info": {"a.context_length": 40960}}, [], 4096),
        ({"model_info": {"a.context_length": 2048}}, [], 2048),
        ({"model_info": {"a.context_length": 40960}, "parameters": "num_ctx    16384"}, [], 16384),
        ({"parameters": "num_ctx    16384"}, [{"name": "m", "context_length": 8192}], 8192),
        ({"model_info": [], "parameters": 7, "capabilities": "tools"}, [], None),
    ],
    ids=["its default", "a short one", "by its file", "as loaded", "nothing readable"],
)
async def test_ollama_s_context_is_the_one_it_uses_and_not_the_one_that_was_trained(show, loaded, context):
    answers = {"GET /v1/models": {"data": [{"id": "m"}]}, "GET /api/ps": {"models": loaded}, "POST /api/show": show}
    assert (await info_of(answers)).context_tokens == context


async def test_a_model_that_lm_studio_has_not_loaded_has_the_length_it_could_have():
    entry = {"id": "m", "type": "vlm", "state": "not-loaded", "max_context_length": 32768}
    answers = {"GET /v1/models": {"data": [{"id": "m"}]}, "GET /api/v0/models": {"data": [entry]}}
    assert await info_of(answers) == ModelInfo("m", 32768, frozenset({"vision"}))


async def test_an_entry_like_openrouter_s_tells_enough():
    entry = {"id": "m", "context_length": 131072, "supported_parameters": ["tools", "reasoning", "stop"]}
    info = await info_of({"GET /v1/models": {"data": [entry]}})
    assert info == ModelInfo("m", 131072, frozenset({"tools", "thinking"}))


async def test_openai_is_asked_for_nothing_but_its_list():
    models = [ModelInfo("gpt-5-mini")]
    assert await described(Endpoint("gpt-5-mini", "", "sk-x"), models) == models


def test_anthropic_gets_the_key_in_the_header_of_its_own_api_too():
    headers = _client(Endpoint("claude", "https://api.anthropic.com/v1/", "sk-x")).headers
    assert (headers["x-api-key"], headers["authorization"]) == ("sk-x", "Bearer sk-x")
    assert "x-api-key" not in _client(Endpoint("m", "https://api.deepseek.com", "sk-x")).headers


def test_every_stream_is_made_of_lines_that_a_server_can_send():
    for provider in PROVIDERS:
        lines = [line for line in wire_file(provider)["stream"].splitlines() if line.startswith("data: {")]
        assert [json.loads(line.removeprefix("data: ")) for line in lines]
