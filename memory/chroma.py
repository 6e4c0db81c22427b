"""The Chroma vector database that finds events and summaries, embedded or as a server. Vectors are computed by us."""

import logging
import re
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

from soulgraph.errors import MemoryUnavailable
from soulgraph.memory.chroma_client import Client, connect, open_folder, translated_errors
from soulgraph.memory.chroma_shared import SharedClient
from soulgraph.memory.ranking import Floats

_LOOKED_THROUGH, _CANDIDATES = 2, 24  # documents looked through for each that is wanted, and at least

_log = logging.getLogger(__name__)


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


class KeptCollection(Protocol):
    """What every collection can do, so that it can be checked and rebuilt.

    Every call raises MemoryUnavailable when Chroma fails, whatever the reason.
    """

    problem: str
    """Its last failure, which stays until somebody has looked again; empty if there is none."""

    async def count(self) -> int: ...

    async def tag(self, owners: Mapping[str, Mapping[str, str]]) -> None:
        """Set the metadata of these documents by id; ids that are not there are left out."""
        ...

    async def delete(self, ids: Collection[str]) -> None: ...

    async def dump(self, ids: Collection[str]) -> list[StoredDocument]:
        """These documents with their vectors; ids that are not there are left out."""
        ...

    async def load(self, documents: Collection[StoredDocument]) -> None:
        """Put back what `dump` has given."""
        ...

    async def renew(self) -> Path | None:
        """Begin anew; returns where the folder with the damage is now. A server keeps what it has."""
        ...


class EventCollection(KeptCollection, Protocol):
    """Documents by id, each with an audience."""

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

    async def get(self, ids: Collection[str]) -> dict[str, str]:
        """The documents by id; ids that are not there are left out."""
        ...


class SummaryCollection(KeptCollection, Protocol):
    """Documents that belong to somebody: `owner` is metadata like `{"soul_id": …}`."""

    async def put(self, documents: Mapping[str, str], vectors: Floats, owner: Mapping[str, str]) -> None: ...

    async def near(self, vector: Floats, limit: int, owner: Mapping[str, str]) -> list[NearDocument]: ...

    async def forget(self, owner: Mapping[str, str]) -> None: ...


def collection_name(model: str, kind: str = "events") -> str:
    """The collection's name. Each model has its own, because vectors of different models cannot be compared."""
    readable = re.sub(r"[^a-zA-Z0-9]+", "-", model).strip("-")[:40]
    return f"{kind}-{readable}-{crc32(model.encode()):08x}"


def open_collection(name: str, folder: Path, url: str, shared: str) -> AbstractAsyncContextManager["ChromaCollection"]:
    """On the Chroma server at `url`, else embedded in the folder; `shared` is where another process has it open."""
    if url:
        return open_server(url, name)
    return open_shared(shared, folder, name) if shared else open_embedded(folder, name)


@asynccontextmanager
async def open_shared(address: str, folder: Path, collection: str) -> AsyncIterator["ChromaCollection"]:
    """The collection in a folder that another process of this server has open."""
    yield ChromaCollection(SharedClient(address, folder, collection))


@asynccontextmanager
async def open_embedded(folder: Path, collection: str) -> AsyncIterator["ChromaCollection"]:
    """The collection in this folder. Chroma is imported and opened by the first call, not before."""
    async with open_folder(folder, collection) as client:
        yield ChromaCollection(client)


@asynccontextmanager
async def open_server(url: str, collection: str) -> AsyncIterator["ChromaCollection"]:
    """The collection on a Chroma server; ConfigurationError if the URL is wrong or nothing answers there."""
    async with connect(url, collection) as client:
        yield ChromaCollection(client)


class ChromaCollection:
    """The same calls on either client."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.problem = ""

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
        await self._request(
            "upsert",
            ids=[one.id for one in documents],
            documents=[one.document for one in documents],
            metadatas=[one.metadata or None for one in documents],
            embeddings=[one.vector for one in documents],
        )

    async def count(self) -> int:
        return int(await self._request("count"))

    async def renew(self) -> Path | None:
        return await self._client.renew()

    async def _request(self, method: str, **values: Any) -> Any:
        try:
            with translated_errors():
                collection = await self._client.collection()
                return await self._client.call(partial(getattr(collection, method), **values))
        except MemoryUnavailable as error:
            if not self.problem:
                _log.warning("%s; `soulgraph doctor` says more", error.detail)
            self.problem = error.detail
            raise


def _passes(metadata: Mapping[str, Any], owner: Mapping[str, Any]) -> bool:
    """Whether a document's metadata meet a condition as `near` takes it: a value, or `{"$in": values}`."""
    accepted = {key: value["$in"] if isinstance(value, dict) else [value] for key, value in owner.items()}
    return all(metadata.get(key) in values for key, values in accepted.items())
