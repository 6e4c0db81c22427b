"""What every test may ask for: an empty database on each backend, and an environment that hides the real one."""

import os
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests import services

# Here and not in a fixture, because libraries read these when they are imported: no key, endpoint or
# tracer of the person who runs the tests may reach them, so no test can speak to a real model.
_REAL = re.compile(r"(?!SOULGRAPH_TEST_)(SOULGRAPH|OPENAI|LANGSMITH|LANGCHAIN)_")
for name in [name for name in os.environ if _REAL.match(name)]:
    del os.environ[name]
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs in a folder of its own, where no .env file lies."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'soulgraph.db'}"


@pytest.fixture
def postgres_url() -> Iterator[str]:
    with services.postgres_schema() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """An empty database, not yet migrated; the test runs once on each backend."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[Stores]:
    async with Database.open(database_url) as database:
        yield Stores(database)


@pytest.fixture
def mqtt_url() -> str:
    return services.mosquitto()
