"""The summaries of a soul's conversations, private to it and to the person of each conversation.

Chroma finds them, their backgrounds in SQL hold them and say whose they are.
"""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from soulgraph.memory.chroma import StoredDocument, SummaryCollection, collection_name, open_collection
from soulgraph.memory.ranking import EVENTS, rank_texts
from soulgraph.memory.source import Query
from soulgraph.memory.upkeep import Entry, Upkeep
from soulgraph.senses.ports import Embedder
from soulgraph.soul.people import NOBODY, may_know
from soulgraph.stores.records import Preset
from soulgraph.stores.stores import Stores, Transaction

_CANDIDATES = 12


@dataclass(frozen=True, slots=True)
class RecalledSummary:
    """A summary, the id of its background, and the session it tells of."""

    summary_id: str
    session_id: str
    text: str
    created_at: float
    score: float

    @property
    def source_id(self) -> str:
        return self.summary_id


class Summaries:
    kind = "summary"

    def __init__(self, vault: SummaryCollection, stores: Stores, embedder: Embedder) -> None:
        self._vault = vault
        self._stores = stores
        self._embedder = embedder
        self.upkeep = Upkeep(vault, embedder, _SummaryEntries(stores))

    async def add(self, summary_id: str, soul_id: str, user_id: str, session_id: str, text: str) -> None:
        """Make a summary findable; its background is stored by the caller, under the same id."""
        vectors = await self._embedder.embed([text])
        owner = {"soul_id": soul_id, "user_id": user_id, "session_id": session_id}
        await self._vault.put({summary_id: text}, vectors, owner)

    async def search(self, query: Query) -> list[RecalledSummary]:
        """The k best summaries of conversations that the whole audience had with this soul; empty if none is relevant.

        Without an audience those of all its conversations.
        """
        if query.vector is None:
            return []
        async with self._stores.read() as tx:
            # Chroma takes a second to open: a server on which nobody has summarised anything needs none of it.
            if not await tx.backgrounds.any_summaries():
                return []
        limit = max(_CANDIDATES, query.k)
        audience = query.audience
        found = await self._vault.near(query.vector, limit, {"soul_id": query.soul_id})
        if audience is not None and len(audience) == 1:
            [user_id] = audience
            # Asked for on top: summaries from before people had owners there have no `user_id` in Chroma.
            found += await self._vault.near(query.vector, limit, {"user_id": user_id})
        near = {one.id: one.cosine for one in found}
        presets = [preset for preset in await self._stored(query.soul_id, near) if _is_known(preset, audience)]
        texts = [_text(preset) for preset in presets]
        cosines = np.array([near[preset.id] for preset in presets], np.float32)
        age_s = np.array([query.now - preset.created_at for preset in presets], np.float32)
        ranked = rank_texts(query.text, texts, cosines, age_s, np.zeros(len(presets), np.float32), EVENTS)
        return [_recalled(presets[n], score) for n, score in ranked[: query.k]]

    async def texts(self, soul_id: str, summary_ids: Collection[str]) -> dict[str, str]:
        """The texts of these summaries by id; those that are gone or another soul's are left out."""
        return {preset.id: _text(preset) for preset in await self._stored(soul_id, summary_ids)}

    async def note_use(self, tx: Transaction, recalled: Collection[str], useful: Collection[str], now: float) -> None:
        """They are few: how often one was of use is not counted."""

    async def dump(self, summary_ids: Collection[str]) -> list[StoredDocument]:
        """Those of these summaries that can be found, with their vectors, for a backup."""
        return await self.upkeep.dump(summary_ids)

    async def forget(self, **owner: str) -> None:
        """Make the summaries of a soul (`soul_id=…`) or of a session (`session_id=…`) unfindable."""
        async with self._stores.read() as tx:
            if not await tx.backgrounds.any_summaries():
                return
        await self._vault.forget(owner)

    async def _stored(self, soul_id: str, summary_ids: Collection[str]) -> list[Preset]:
        async with self._stores.read() as tx:
            found = [await tx.backgrounds.find(summary_id) for summary_id in summary_ids]
        return [preset for preset in found if preset and preset.summary_of.get("soul_id") == soul_id]


class _SummaryEntries:
    name = "summaries"

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    async def page(self, after: str, limit: int) -> list[Entry]:
        async with self._stores.read() as tx:
            return [_entry(preset) for preset in await tx.backgrounds.summaries(after, limit)]

    async def get(self, summary_ids: Collection[str]) -> list[Entry]:
        return [_entry(preset) for preset in await self._findable(summary_ids)]

    async def there(self, summary_ids: Collection[str]) -> set[str]:
        return {preset.id for preset in await self._findable(summary_ids)}

    async def _findable(self, summary_ids: Collection[str]) -> list[Preset]:
        """The summary of a conversation that was deleted stays a background, and is not found any more."""
        async with self._stores.read() as tx:
            found = [await tx.backgrounds.find(summary_id) for summary_id in summary_ids]
            return [one for one in found if one and await tx.sessions.find(one.summary_of.get("session_id", ""))]

    async def count_lost(self) -> int:
        return 0


def _is_known(preset: Preset, audience: Collection[str] | None) -> bool:
    origin = preset.summary_of
    return audience is None or may_know(audience, origin.get("user_id", NOBODY), origin.get("people", ()))


def _entry(preset: Preset) -> Entry:
    """As `add` puts it; summaries from before people had owners have no person."""
    origin = preset.summary_of
    names: tuple[str, ...] = ("soul_id", "user_id", "session_id")
    owner = {name: str(origin[name]) for name in names if name in origin}
    return Entry(preset.id, _text(preset), _text(preset), owner)


def _text(preset: Preset) -> str:
    return str(preset.data["initial_context"])


def _recalled(preset: Preset, score: float) -> RecalledSummary:
    return RecalledSummary(preset.id, preset.summary_of["session_id"], _text(preset), preset.created_at, score)


@asynccontextmanager
async def open_summaries(
    stores: Stores, embedder: Embedder, *, folder: Path, url: str = "", shared: str = ""
) -> AsyncIterator[Summaries]:
    """On the Chroma server at `url`, or embedded in `folder`, as `open_collection` takes them."""
    async with open_collection(collection_name(embedder.name, "summaries"), folder, url, shared) as vault:
        yield Summaries(vault, stores, embedder)
