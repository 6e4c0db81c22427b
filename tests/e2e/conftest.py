import pytest

from soulgraph.tests.live import serving
from soulgraph.tests.stub_openai import StubOpenAI


@pytest.fixture(autouse=True)
def migrated(sqlite_url):
    """A server that is given `tmp_path` and no other database finds its schema there."""


class Clock:
    """The time is what the test says it is."""

    now = 1_800_014_400.0  # 2027-01-15, 12:00 in UTC, 20:00 in Shanghai

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


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
