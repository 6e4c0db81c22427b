import pytest

from soulgraph.tests.live import serving
from soulgraph.tests.stub_openai import StubOpenAI


@pytest.fixture(autouse=True)
def migrated(sqlite_url):
    """A server that is given `tmp_path` and no other database finds its schema there."""


@pytest.fixture
async def stub():
    async with StubOpenAI() as stub:
        yield stub


@pytest.fixture
async def client(database_url, tmp_path):
    """A server with the offline voice, on both databases."""
    async with serving(database_url=database_url, data_dir=tmp_path) as client:
        yield client


@pytest.fixture
async def modelled(stub, tmp_path):
    """A server whose model is the stub."""
    async with serving(data_dir=tmp_path, llm_base_url=stub.base_url, llm_model="stub", llm_timeout_s=1) as client:
        yield client
