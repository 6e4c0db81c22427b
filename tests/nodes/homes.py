"""A soul at home on SQLite, and small ports that keep what they are told."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
from langchain_core.tools import BaseTool

from soulgraph.memory.chroma import NearDocument
from soulgraph.memory.events import Event, EventLibrary, Pattern
from soulgraph.memory.recall import Recall
from soulgraph.nodes.context import NoBudget, NoListeners
from soulgraph.nodes.state import FollowUp
from soulgraph.settings import Settings
from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests.memory.words_as_vectors import WordVectors
from soulgraph.tests.stores.samples import NOW, message, session, soul
from soulgraph.tests.stub_openai import StubOpenAI
from soulgraph.voices.factory import open_voice
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Voice

OFFLINE = Voice("offline", OfflineVoice())


@asynccontextmanager
async def open_home(url: str, **fields: Any) -> AsyncIterator[Stores]:
    """`soul_1` with `sess_1`; `fields` are the soul's."""
    async with Database.open(url) as database:
        stores = Stores(database)
        async with stores.write() as tx:
            await tx.souls.add(soul(**fields))
            await tx.sessions.add(session())
        yield stores


@asynccontextmanager
async def open_stub_voice(stub: StubOpenAI, *tools: BaseTool) -> AsyncIterator[Voice]:
    async with open_voice(
        Settings.load(llm_base_url=stub.base_url, llm_model="stub", llm_carrier="tags").llm, tools
    ) as voice:
        yield voice


@asynccontextmanager
async def open_recall(stores: Stores) -> AsyncIterator[Recall]:
    recall = Recall(stores, WordVectors(), lambda: NOW)
    try:
        yield recall
    finally:
        await recall.close()


async def talk(stores: Stores, count: int, text: str = "I saw a whale, number {n}") -> list[int]:
    """Messages of both sides in turn; returns their ids."""
    said = [message(text.format(n=n), role="assistant" if n % 2 else "user") for n in range(count)]
    async with stores.write() as tx:
        return await tx.messages.append("sess_1", said)


def follow_up(last_message: int = 0, **fields: Any) -> dict[str, FollowUp]:
    """The state of the afterglow after `turn_1`."""
    values = {"archive_now": False, "state_changes": [], "soul_turn": 1}
    ids = {"soul_id": "soul_1", "session_id": "sess_1", "turn_id": "turn_1", "last_message": last_message}
    return {"follow_up": {**ids, **values, **fields}}  # type: ignore[typeddict-item]


class Told:
    """Telemetry that can be read afterwards."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []
        self.labelled: dict[str, str] = {}

    def emit(self, event: str, **fields: Any) -> None:
        self.lines.append((event, fields))

    def label(self, **labels: str) -> None:
        self.labelled |= labels

    def labels(self) -> dict[str, str]:
        return self.labelled

    def keep_private(self, *texts: str) -> None: ...


class Ears(NoListeners):
    """So many open streams."""

    def __init__(self, count: int = 1) -> None:
        self.count = count
        self.heard: list[tuple[str, str, str, dict[str, Any]]] = []

    def reaches(self, soul_id: str, user_id: str) -> int:
        return self.count

    def tell(self, soul_id: str, user_id: str, event: str, data: dict[str, Any]) -> int:
        self.heard.append((soul_id, user_id, event, data))
        return self.count


class Meanwhile(NoBudget):
    """Something happens while a model is thinking."""

    def __init__(self, happening: Callable[[], Awaitable[None]]) -> None:
        self._happening = happening

    @asynccontextmanager
    async def background(self, soul_id: str, kind: str) -> AsyncIterator[None]:
        yield
        await self._happening()


class Vault:
    """What the event library needs of Chroma, in memory."""

    def __init__(self) -> None:
        self.documents: dict[str, str] = {}
        self.audiences: dict[str, str] = {}
        self._vectors: dict[str, Any] = {}

    async def put(self, documents: Any, vectors: Any, owner: Any) -> None:
        self.documents |= documents
        self.audiences |= dict.fromkeys(documents, owner["audience"])
        self._vectors |= dict(zip(documents, vectors, strict=True))

    async def tag(self, owners: Any) -> None:
        self.audiences |= {key: owner["audience"] for key, owner in owners.items() if key in self.documents}

    async def near(self, vector: Any, limit: int, owner: Any = None) -> list[NearDocument]:
        open_to = owner["audience"]["$in"] if owner else self.audiences.values()
        known = {key: vector for key, vector in self._vectors.items() if self.audiences[key] in open_to}
        cosines = {key: float(np.dot(vector, other)) for key, other in known.items()}
        nearest = sorted(cosines, key=lambda key: -cosines[key])[:limit]
        return [NearDocument(key, self.documents[key], cosines[key]) for key in nearest]

    async def get(self, ids: Any) -> dict[str, str]:
        return {key: self.documents[key] for key in ids if key in self.documents}

    async def delete(self, ids: Any) -> None:
        for key in ids:
            del self.documents[key], self.audiences[key], self._vectors[key]

    def events(self) -> list[Event]:
        return [Event.from_json(document) for document in self.documents.values()]


def library_on(vault: Vault, stores: Stores) -> EventLibrary:
    return EventLibrary(vault, stores, WordVectors(), lambda: NOW)


def event(event_id: str, summary: str) -> Event:
    return Event(event_id, summary, Pattern(summary, summary, "joy", "closer"), {}, summary, "2026-01-01T00:00:00Z")
