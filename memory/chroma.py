"""The Chroma vector database behind events and summaries, embedded or as a server. Vectors are computed by us.

The embedded client blocks, so its calls run on a thread of their own. Only one process may use its folder.
"""

import asyncio
import re
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit
from zlib import crc32

import httpx

from soulgraph.compat import close_chroma_client
from soulgraph.errors import ConfigurationError, StoreUnavailable
from soulgraph.memory.ranking import Floats

TIMEOUT_S = 10.0
# Each document that is put reads all that wait to be put into the index: a thousand of them, by default.
_UPKEEP = {"hnsw": {"sync_threshold": 100}}
_LOOKED_THROUGH, _CANDIDATES = 2, 24  # documents looked through for each that is wanted, and at least
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NearDocument:
    id: str
    document: str
    cosine: float


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document with everything that Chroma has of it."""

    id: str
    document: str
    metadata: dict[str, Any]
    vector: list[float]


class EventCollection(Protocol):
    """One collection of documents by id, each with an audience.

    Every call raises StoreUnavailable when Chroma does not answer.
    """

    async def put(self, documents: Mapping[str, str], vectors: Floats, owner: Mapping[str, str]) -> None:
        """Insert or replace these documents; `vectors` has one row for each, in the same order.

        `owner` is `{"audience": …}`.
        """
        ...

    async def near(self, vector: Floats, limit: int, owner: Mapping[str, Any] | None = None) -> list[NearDocument]:
        """The documents with the greatest cosine, the nearest first.

        `owner` is a condition on their metadata: values by key, or `{"$in": values}`.
        """
        ...

    async def tag(self, owners: Mapping[str, Mapping[str, str]]) -> None:
        """Set the metadata of these documents by id; ids that are not there are left out."""
        ...

    async def get(self, ids: Collection[str]) -> dict[str, str]:
        """The documents by id; ids that are not there are left out."""
        ...

    async def delete(self, ids: Collection[str]) -> None: ...

    async def dump(self, ids: Collection[str]) -> list[StoredDocument]:
        """These documents with their vectors; ids that are not there are left out."""
        ...


class SummaryCollection(Protocol):
    """Documents that belong to somebody: `owner` is metadata like `{"soul_id": …}`. Raises as EventCollection does."""

    async def put(self, documents: Mapping[str, str], vectors: Floats, owner: Mapping[str, str]) -> None: ...

    async def near(self, vector: Floats, limit: int, owner: Mapping[str, str]) -> list[NearDocument]: ...

    async def forget(self, owner: Mapping[str, str]) -> None: ...

    async def dump(self, ids: Collection[str]) -> list[StoredDocument]: ...


def collection_name(model: str, kind: str = "events") -> str:
    """The collection's name. Each model has its own, because vectors of different models cannot be compared."""
    readable = re.sub(r"[^a-zA-Z0-9]+", "-", model).strip("-")[:40]
    return f"{kind}-{readable}-{crc32(model.encode()):08x}"


@asynccontextmanager
async def open_embedded(folder: Path, collection: str) -> AsyncIterator["ChromaCollection"]:
    """The collection in this folder. Chroma is imported and opened by the first call, not before."""
    with ThreadPoolExecutor(1, thread_name_prefix="chroma") as thread:

        async def call(work: Callable[[], T]) -> T:
            return await asyncio.get_running_loop().run_in_executor(thread, work)

        opened: list[tuple[Any, Any]] = []

        def open_once() -> None:
            # No lock is needed: the executor has one thread, so two callers cannot both find the list empty.
            if not opened:
                opened.append(_open_client(folder, collection))

        async def opened_collection() -> Any:
            if not opened:
                await call(open_once)
            return opened[0][1]

        yield ChromaCollection(opened_collection, call)
        for client, _ in opened:
            await call(client.close)


@asynccontextmanager
async def open_server(url: str, collection: str) -> AsyncIterator["ChromaCollection"]:
    """The collection on a Chroma server; ConfigurationError if the URL is wrong or nothing answers there."""
    import chromadb
    from chromadb.config import Settings

    address = urlsplit(url)
    if address.scheme not in ("http", "https") or not address.hostname:
        raise ConfigurationError("SOULGRAPH_CHROMA_URL", "not an address: use http://host:8000")
    settings = Settings(anonymized_telemetry=False)
    port = address.port or (443 if address.scheme == "https" else 8000)
    try:
        with _translate_errors():
            client = await chromadb.AsyncHttpClient(
                address.hostname, port, address.scheme == "https", settings=settings
            )
            opened = await _collection(client, collection)
            if _is_slow(opened):
                with _without_warnings():
                    await opened.modify(configuration=_UPKEEP)
    except StoreUnavailable as error:
        raise ConfigurationError("SOULGRAPH_CHROMA_URL", f"{address.hostname}:{port}: {error.detail}") from error

    async def call(work: Callable[[], Any]) -> Any:
        async with asyncio.timeout(TIMEOUT_S):
            return await work()

    async def opened_collection() -> Any:
        return opened

    try:
        yield ChromaCollection(opened_collection, call)
    finally:
        await close_chroma_client(client)


class ChromaCollection:
    """The same calls on either client; `call` runs one of its methods, on a thread or in the event loop."""

    def __init__(self, collection: Callable[[], Awaitable[Any]], call: Callable[[Callable[[], Any]], Any]) -> None:
        self._collection = collection
        self._call = call

    async def put(self, documents: Mapping[str, str], vectors: Floats, owner: Mapping[str, str] | None = None) -> None:
        values = {"ids": list(documents), "documents": list(documents.values()), "embeddings": vectors}
        metadatas = [dict(owner)] * len(documents) if owner else None
        await self._request("upsert", **values, metadatas=metadatas)

    async def near(self, vector: Floats, limit: int, owner: Mapping[str, Any] | None = None) -> list[NearDocument]:
        """Chroma's own filter takes time in proportion to all documents that pass it.

        So where many may pass, the nearest of all are looked through first; most often enough of them pass.
        """
        if owner and any(isinstance(value, dict) for value in owner.values()):
            looked_through = max(_LOOKED_THROUGH * limit, _CANDIDATES)
            found = await self._nearest(vector, looked_through, None)
            passed = [document for document, metadata in found if _passes(metadata, owner)]
            if len(passed) >= limit or len(found) < looked_through:
                return passed[:limit]
        return [document for document, _ in await self._nearest(vector, limit, owner)]

    async def _nearest(
        self, vector: Floats, limit: int, owner: Mapping[str, Any] | None
    ) -> list[tuple[NearDocument, Mapping[str, Any]]]:
        """The nearest documents with their metadata."""
        options = {"n_results": limit, "include": ["documents", "distances", "metadatas"]}
        where = dict(owner) if owner else None
        found = await self._request("query", query_embeddings=vector[None], where=where, **options)
        rows = zip(*(found[name][0] for name in ("ids", "documents", "distances", "metadatas")), strict=True)
        return [(NearDocument(id_, document, 1 - distance), own or {}) for id_, document, distance, own in rows]

    async def tag(self, owners: Mapping[str, Mapping[str, str]]) -> None:
        # Chroma's update of an id that is not there does nothing, and says so in the log.
        known = {id_: dict(owners[id_]) for id_ in await self.get(owners)}
        if known:
            await self._request("update", ids=list(known), metadatas=list(known.values()))

    async def get(self, ids: Collection[str]) -> dict[str, str]:
        if not ids:
            return {}
        found = await self._request("get", ids=sorted(ids), include=["documents"])
        return dict(zip(found["ids"], found["documents"], strict=True))

    async def delete(self, ids: Collection[str]) -> None:
        if ids:
            await self._request("delete", ids=sorted(ids))

    async def forget(self, owner: Mapping[str, str]) -> None:
        await self._request("delete", where=dict(owner))

    async def dump(self, ids: Collection[str]) -> list[StoredDocument]:
        if not ids:
            return []
        found = await self._request("get", ids=sorted(ids), include=["documents", "metadatas", "embeddings"])
        rows = zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True)
        return [
            StoredDocument(id_, text, dict(owner or {}), [float(n) for n in vector])
            for id_, text, owner, vector in rows
        ]

    async def load(self, documents: Collection[StoredDocument]) -> None:
        """Put back what `dump` has given."""
        await self._request(
            "upsert",
            ids=[one.id for one in documents],
            documents=[one.document for one in documents],
            metadatas=[one.metadata or None for one in documents],
            embeddings=[one.vector for one in documents],
        )

    async def count(self) -> int:
        return int(await self._request("count"))

    async def _request(self, method: str, **values: Any) -> Any:
        with _translate_errors():
            return await self._call(partial(getattr(await self._collection(), method), **values))


def _open_client(folder: Path, collection: str) -> tuple[Any, Any]:
    """The embedded client and its collection."""
    import chromadb  # takes a second, so not before it is needed
    from chromadb.config import Settings

    folder.mkdir(parents=True, exist_ok=True)
    client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))
    opened = _collection(client, collection)
    if _is_slow(opened):
        with _without_warnings():
            opened.modify(configuration=_UPKEEP)
    return client, opened


def _collection(client: Any, name: str) -> Any:
    """The collection of this name, made if it is not there; awaitable on the server's client."""
    configuration = {"hnsw": {"space": "cosine", **_UPKEEP["hnsw"]}}
    # Without an embedding function: Chroma would otherwise load a model of its own.
    return client.get_or_create_collection(name, embedding_function=None, configuration=configuration)


def _is_slow(collection: Any) -> bool:
    """Whether it was made with Chroma's own default for how much waits to be put into its index."""
    return bool(collection.configuration_json["hnsw"]["sync_threshold"] != _UPKEEP["hnsw"]["sync_threshold"])


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Chroma warns of its own older form when it changes a collection without an embedding function."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


def _passes(metadata: Mapping[str, Any], owner: Mapping[str, Any]) -> bool:
    """Whether a document's metadata meet a condition as `near` takes it: a value, or `{"$in": values}`."""
    accepted = {key: value["$in"] if isinstance(value, dict) else [value] for key, value in owner.items()}
    return all(metadata.get(key) in values for key, values in accepted.items())


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Raise Chroma's errors, and those of the connection to it, as StoreUnavailable."""
    try:
        yield
    except _failures() as error:
        why = str(error) or type(error).__name__
        raise StoreUnavailable(f"the event library does not answer: {why}") from error


def _failures() -> tuple[type[Exception], ...]:
    # Python evaluates an except clause only when something was raised: by then Chroma is imported.
    from chromadb.errors import ChromaError

    return ChromaError, httpx.HTTPError, TimeoutError, OSError, ValueError
