"""What tests of memory add: both kinds of Chroma."""

from collections.abc import Iterator

import pytest

from soulgraph.tests.memory.chroma import chroma_server


@pytest.fixture(scope="session")
def shared_chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that all tests share: each names a model, and so has a collection, of its own."""
    with chroma_server(tmp_path_factory.mktemp("chroma")) as url:
        yield url


@pytest.fixture(params=["embedded", "server"])
def chroma_url(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue("shared_chroma")) if request.param == "server" else ""
