"""An OpenAI-compatible embeddings endpoint over real HTTP, and the settings that choose it."""

import numpy as np
import pytest

from soulgraph.errors import ConfigurationError, SenseUnavailable
from soulgraph.senses.embedding.factory import open_embedder
from soulgraph.senses.embedding.local import NAME
from soulgraph.settings import Settings
from soulgraph.tests.stub_openai import Reply, StubOpenAI


@pytest.fixture
async def stub():
    async with StubOpenAI() as stub:
        yield stub


def configured(**values) -> Settings:
    return Settings.load(**{f"embeddings_{name}": value for name, value in values.items()})


def at(stub: StubOpenAI) -> Settings:
    return configured(base_url=stub.base_url, model="stub-embedding")


async def test_the_endpoint_gives_the_vectors_and_the_name(stub):
    async with open_embedder(at(stub).embeddings) as embedder:
        vectors = await embedder.embed(["你好", "hello", "你好", ""])
    assert embedder.name == "stub-embedding"
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert np.array_equal(vectors[0], vectors[2])
    assert not np.allclose(vectors[0], vectors[1])


async def test_without_a_model_the_built_in_encoder_is_used():
    async with open_embedder(Settings.load().embeddings) as embedder:
        assert embedder.name == NAME


@pytest.mark.parametrize(
    ("values", "setting"),
    [
        ({"base_url": "http://127.0.0.1:1"}, "SOULGRAPH_EMBEDDINGS_MODEL"),
        ({"api_key": "key"}, "SOULGRAPH_EMBEDDINGS_MODEL"),
        ({"model": "text-embedding-3-small"}, "SOULGRAPH_EMBEDDINGS_API_KEY"),
        ({"model": "m", "base_url": "127.0.0.1:1"}, "SOULGRAPH_EMBEDDINGS_BASE_URL"),
    ],
)
def test_half_a_configuration_is_refused_by_the_name_of_the_setting(values, setting):
    with pytest.raises(ConfigurationError, match=setting):
        open_embedder(configured(**values).embeddings)


async def test_an_endpoint_that_is_not_there_stops_the_start():
    with pytest.raises(ConfigurationError, match=r"SOULGRAPH_EMBEDDINGS_BASE_URL: http://127\.0\.0\.1:1"):
        async with open_embedder(configured(base_url="http://127.0.0.1:1/v1", model="m").embeddings):
            pass


@pytest.mark.parametrize(
    "reply",
    [Reply(status=500), Reply(garbage="not json"), Reply(garbage='{"data": []}'), Reply(garbage='{"data": [{}]}')],
)
async def test_an_endpoint_that_fails_later_is_a_sense_that_is_away(stub, reply):
    async with open_embedder(at(stub).embeddings) as embedder:
        stub.embeddings = reply
        with pytest.raises(SenseUnavailable, match="embeddings endpoint"):
            await embedder.embed(["a text"])
