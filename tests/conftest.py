"""What every test may ask for: an empty database on each backend, and an environment that hides the real one."""

import asyncio
import functools
import gc
import os
import re
import shutil
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from langgraph._internal import _serde as langgraph_serde
from langgraph.pregel import _utils as langgraph_utils

from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests import services

# Here and not in a fixture, because libraries read these when they are imported: no key, endpoint or
# tracer of the person who runs the tests may reach them, so no test can speak to a real model.
_REAL = re.compile(r"(?!SOULGRAPH_TEST_)(SOULGRAPH|OPENAI|LANGSMITH|LANGCHAIN|OTEL)_")
for name in [name for name in os.environ if _REAL.match(name)]:
    del os.environ[name]
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"


# A deadline is a clock's, and measures how busy the machine is; the first example also pays for what is read once.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")


def _read_once(create: Callable[..., ssl.SSLContext]) -> Callable[..., ssl.SSLContext]:
    """To read all certificates of the machine for every HTTP client would take a tenth of the whole time."""
    cached = functools.cache(create)

    def context(*args: Any, **options: Any) -> ssl.SSLContext:
        return (cached if options.get("cafile") else create)(*args, **options)

    return context


ssl.create_default_context = _read_once(ssl.create_default_context)


# LangGraph asks these of every node whenever a graph is compiled, as the start of every server does: the answers for
# functions and types of modules stay as they are.
langgraph_utils.get_function_nonlocals = functools.cache(langgraph_utils.get_function_nonlocals)
langgraph_serde._safe_get_type_hints = functools.cache(langgraph_serde._safe_get_type_hints)


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    """What was imported is there to stay: to look for garbage in it would take a tenth of the whole time.

    Looking as often as a program does that runs for days would take another twentieth.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)
    gc.enable()


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs in a folder of its own, where no .env file lies."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "soulgraph.db"
    asyncio.run(migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def migrated_schema() -> Iterator[str]:
    with services.postgres_schema() as url:
        asyncio.run(migrate(url))
        yield url


async def migrate(url: str) -> None:
    async with Database.open(url):
        pass


@pytest.fixture
def sqlite_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "soulgraph.db"
    if not request.node.get_closest_marker("unmigrated"):
        shutil.copyfile(request.getfixturevalue("migrated_file"), path)
    return f"sqlite:///{path}"


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.node.get_closest_marker("unmigrated"):
        with services.postgres_schema() as url:
            yield url
    else:
        url = request.getfixturevalue("migrated_schema")
        yield url
        services.empty_tables(url)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A database without a row; the test runs once on each backend.

    Migrations cost more than most tests, so they are run once and their schema is lent to every test; a test of
    how a database is opened first, or that changes the schema, is marked `unmigrated` and gets one of its own.
    """
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[Stores]:
    async with Database.open(database_url) as database:
        yield Stores(database)


@pytest.fixture
def mqtt_url() -> str:
    return services.mosquitto()
