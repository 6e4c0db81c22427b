import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.settings import Settings
from soulgraph.tests.stub_openai import StubOpenAI
from soulgraph.voices.factory import open_voice
from soulgraph.voices.offline import OfflineVoice


async def test_without_a_model_the_offline_voice_speaks_under_its_own_name():
    async with open_voice(Settings.load().llm, TOOLS) as voice:
        assert voice.name == "offline"
        assert isinstance(voice.model, OfflineVoice)
        assert voice.tools == TOOLS


@pytest.mark.parametrize(
    ("given", "setting"),
    [
        ({"llm_base_url": "http://127.0.0.1:1/v1"}, "SOULGRAPH_LLM_MODEL"),
        ({"llm_api_key": "sk-x"}, "SOULGRAPH_LLM_MODEL"),
        ({"llm_model": "m"}, "SOULGRAPH_LLM_API_KEY"),
        ({"llm_model": "m", "llm_base_url": "127.0.0.1:1/v1"}, "SOULGRAPH_LLM_BASE_URL"),
    ],
    ids=["endpoint without model", "key without model", "model alone", "endpoint without scheme"],
)
async def test_half_a_configuration_is_refused_by_name(given, setting):
    with pytest.raises(ConfigurationError) as refused:
        async with open_voice(Settings.load(**given).llm, TOOLS):
            pass
    assert refused.value.extra["setting"] == setting
    assert "sk-x" not in refused.value.detail


async def test_a_key_alone_means_openai_itself():
    async with open_voice(Settings.load(llm_model="m", llm_api_key="sk-x").llm, TOOLS) as voice:
        assert voice.name == "m"
        assert voice.model.root_async_client.base_url.host == "api.openai.com"
        assert voice.model.root_async_client.max_retries == 0


async def test_the_request_carries_the_settings():
    given = {"llm_model": "m", "llm_api_key": "sk-x", "llm_temperature": 0.25}
    async with StubOpenAI() as stub, open_voice(Settings.load(llm_base_url=stub.base_url, **given).llm, ()) as voice:
        await voice.with_tools.ainvoke("hi")
        sent = stub.requests[0]
    assert sent.headers["authorization"] == "Bearer sk-x"
    assert (sent.body["model"], sent.body["temperature"]) == ("m", 0.25)
    assert "tools" not in sent.body


async def test_the_model_s_own_temperature_is_left_alone():
    async with (
        StubOpenAI() as stub,
        open_voice(Settings.load(llm_base_url=stub.base_url, llm_model="m").llm, ()) as voice,
    ):
        await voice.without_tools.ainvoke("hi")
        assert "temperature" not in stub.requests[0].body


async def test_all_calls_share_one_connection_pool():
    async with (
        StubOpenAI() as stub,
        open_voice(Settings.load(llm_base_url=stub.base_url, llm_model="m").llm, TOOLS) as voice,
    ):
        for speaker in (voice.with_tools, voice.without_tools, voice.model):
            assert [chunk async for chunk in speaker.astream("hi")]
        assert len(stub.requests) == 3
        assert len(stub._connections) == 1
    assert voice.model.http_async_client.is_closed
