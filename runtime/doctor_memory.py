"""The doctor's check of events and summaries: whether Chroma has all that the database has, and can be written to."""

import time
from collections.abc import Sequence

from soulgraph.errors import SenseUnavailable
from soulgraph.memory.upkeep import MemoryHealth
from soulgraph.runtime.doctor_findings import Level
from soulgraph.runtime.ports import open_libraries, open_stores
from soulgraph.senses.embedding.local import NAME
from soulgraph.senses.endpoint import masked
from soulgraph.senses.ports import Vectors
from soulgraph.settings import Settings

REPAIR = "`soulgraph doctor --repair` rebuilds them from the database, and turns go on without them until then"


class _NameAlone:
    """The embedder's name says which collection is meant; nothing is embedded."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def embed(self, texts: Sequence[str]) -> Vectors:
        raise SenseUnavailable("a check embeds nothing")

    def expect(self, texts: Sequence[str]) -> None: ...


async def check_memory(settings: Settings) -> tuple[Level, str]:
    """Opens what a server would open, so none may run."""
    embedder = _NameAlone(settings.embeddings_model or NAME)
    async with (
        open_stores(settings) as stores,
        open_libraries(settings, stores, embedder, time.time) as (events, summaries),
    ):
        return await check_open_memory(settings, MemoryHealth(events.upkeep, summaries.upkeep))


async def check_open_memory(settings: Settings, health: MemoryHealth) -> tuple[Level, str]:
    await health.check()
    if health.problem:
        return "problem", f"{health.problem}; {REPAIR}"
    if settings.chroma_url:
        return "ok", f"Chroma answers at {masked(settings.chroma_url)}"
    return "ok", "embedded: in the data directory, for one server"
