"""Conversations in real databases, to be asked about."""

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from soulgraph.memory.recall import Recall
from soulgraph.scripts.training.dialogues import Dialogue
from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests import services
from soulgraph.tests.stores.samples import message, session, soul


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder, services.postgres_schema() as postgres:
        yield {"SQLite": f"sqlite:///{folder}/soulgraph.db", "PostgreSQL": postgres}


@asynccontextmanager
async def opened(url: str, *souls: str) -> AsyncIterator[Stores]:
    async with Database.open(url) as database:
        stores = Stores(database)
        async with stores.write() as tx:
            for soul_id in souls or ("soul_1",):
                await tx.souls.add(soul(soul_id))
        yield stores


async def tell(stores: Stores, dialogue: Dialogue, soul_id: str = "soul_1") -> list[int]:
    """What was said, in its sessions; the ids of its lines in the database."""
    ids: dict[int, int] = {}
    for name in dict.fromkeys(line.session for line in dialogue.lines):
        own = [(n, line) for n, line in enumerate(dialogue.lines) if line.session == name]
        session_id = f"{soul_id}_{name}"
        async with stores.write() as tx:
            await tx.sessions.add(session(session_id, soul_id))
            rows = [message(line.text, role=line.role, created_at=line.at, soul_id=soul_id) for _, line in own]
            stored = await tx.messages.append(session_id, rows)
        ids.update(zip([n for n, _ in own], stored, strict=True))
    return [ids[n] for n in range(len(dialogue.lines))]


async def index_all(recall: Recall) -> None:
    while await recall.index():
        pass
