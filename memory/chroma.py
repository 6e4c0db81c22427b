"""Chroma, as the event library needs it: our own vectors in, the nearest documents out.

The embedded client blocks, so it works on a thread of its own; it wants its folder for one process alone.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import httpx

from soulgraph.compat import close_chroma_client
from soulgraph.errors import ConfigurationError, StoreUnavailable
from soulgraph.memory.ranking import Floats

TIMEOUT_S = 10.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Near:
    id: str
    document: str
    cosine: float


class Vault(Protocol):
    """One collection of documents. Every call raises StoreUnavailable when Chroma does not answer."""

    async def put(self, documents: Mapping[str, str], vectors: Floats) -> None:
        """Documents by id, and a vector for each."""
        ...

    async def near(self, vector: Floats, limit: int) -> list[Near]: ...

    async def get(self, ids: Collection[str]) -> dict[str, str]: ...

    async def delete(self, ids: Collection[str]) -> None: ...


@asynccontextmanager
async def open_embedded(folder: Path, collection: str) -> AsyncIterator[Vault]:
    with ThreadPoolExecutor(1, thread_name_prefix="chroma") as thread:

        async def call(work: Callable[[], T]) -> T:
            return await asyncio.get_running_loop().run_in_executor(thread, work)

        opened: list[tuple[Any, Any]] = []

        def open_once() -> None:
            """Whoever comes first; the thread does one thing after the other."""
            if not opened:
                opened.append(_embedded(folder, collection))

        async def shelves() -> Any:
            if not opened:
                await call(open_once)
            return opened[0][1]

        yield _Vault(shelves, call)
        for client, _ in opened:
            await call(client.close)


@asynccontextmanager
async def open_server(url: str, collection: str) -> AsyncIterator[Vault]:
    import chromadb
    from chromadb.config import Settings

    where = urlsplit(url)
    if where.scheme not in ("http", "https") or not where.hostname:
        raise ConfigurationError("SOULGRAPH_CHROMA_URL", "not an address: use http://host:8000")
    settings = Settings(anonymized_telemetry=False)
    port = where.port or (443 if where.scheme == "https" else 8000)
    try:
        with _say_if_away():
            client = await chromadb.AsyncHttpClient(where.hostname, port, where.scheme == "https", settings=settings)
            opened = await _collection(client, collection)
    except StoreUnavailable as error:
        raise ConfigurationError("SOULGRAPH_CHROMA_URL", f"{where.hostname}:{port}: {error.detail}") from error

    async def call(work: Callable[[], Any]) -> Any:
        async with asyncio.timeout(TIMEOUT_S):
            return await work()

    async def shelves() -> Any:
        return opened

    try:
        yield _Vault(shelves, call)
    finally:
        await close_chroma_client(client)


class _Vault:
    """The same calls on either client; only how they are awaited differs."""

    def __init__(self, collection: Callable[[], Awaitable[Any]], call: Callable[[Callable[[], Any]], Any]) -> None:
        self._collection = collection
        self._call = call

    async def put(self, documents: Mapping[str, str], vectors: Floats) -> None:
        values = {"ids": list(documents), "documents": list(documents.values()), "embeddings": vectors}
        await self._ask("upsert", **values)

    async def near(self, vector: Floats, limit: int) -> list[Near]:
        wanted = {"n_results": limit, "include": ["documents", "distances"]}
        found = await self._ask("query", query_embeddings=vector[None], **wanted)
        rows = zip(found["ids"][0], found["documents"][0], found["distances"][0], strict=True)
        return [Near(id_, document, 1 - distance) for id_, document, distance in rows]

    async def get(self, ids: Collection[str]) -> dict[str, str]:
        if not ids:
            return {}
        found = await self._ask("get", ids=sorted(ids), include=["documents"])
        return dict(zip(found["ids"], found["documents"], strict=True))

    async def delete(self, ids: Collection[str]) -> None:
        if ids:
            await self._ask("delete", ids=sorted(ids))

    async def _ask(self, method: str, **values: Any) -> Any:
        with _say_if_away():
            return await self._call(partial(getattr(await self._collection(), method), **values))


def _embedded(folder: Path, collection: str) -> tuple[Any, Any]:
    """The client and its collection."""
    import chromadb  # a second's work, so not before it is needed
    from chromadb.config import Settings

    folder.mkdir(parents=True, exist_ok=True)
    client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))
    return client, _collection(client, collection)


def _collection(client: Any, name: str) -> Any:
    """Without an embedding function: the vectors are ours."""
    space = {"hnsw": {"space": "cosine"}}
    return client.get_or_create_collection(name, embedding_function=None, configuration=space)


@contextmanager
def _say_if_away() -> Iterator[None]:
    try:
        yield
    except _failures() as error:
        why = str(error) or type(error).__name__
        raise StoreUnavailable(f"the event library does not answer: {why}") from error


def _failures() -> tuple[type[Exception], ...]:
    """Asked for only when something failed, that is after Chroma was imported on its thread."""
    from chromadb.errors import ChromaError

    return ChromaError, httpx.HTTPError, TimeoutError, OSError, ValueError
