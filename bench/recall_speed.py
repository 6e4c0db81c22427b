"""How fast recall is: 100,000 episodes of one soul and 100,000 events, on each database. Run by `bench/recall.py`."""

import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Iterator, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from sqlalchemy import insert, text

from soulgraph.bench.made_up import talk
from soulgraph.bench.told import databases, opened
from soulgraph.memory.chroma import EventCollection, open_embedded
from soulgraph.memory.event_source import EventSource
from soulgraph.memory.events import Event, EventLibrary, Pattern
from soulgraph.memory.recall import Recall
from soulgraph.senses.ports import Vectors
from soulgraph.soul.people import EVERYONE
from soulgraph.stores import schema
from soulgraph.stores.episodes import index_columns
from soulgraph.stores.records import Json
from soulgraph.stores.repository import fields_of
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import message, session

MANY, BATCH, ASKED, TOPICS = 100_000, 5000, 100, 500


class MadeUpVectors:
    """Vectors near some hundred topics, the same for the same text: for speed, what they mean does not matter."""

    name = "made-up"

    def __init__(self) -> None:
        self._topics = np.random.default_rng(1).normal(size=(TOPICS, 512))

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._vector(text) for text in texts], np.float32)

    def _vector(self, text: str) -> Vectors:
        rng = np.random.default_rng(crc32(text.encode()))
        vector = self._topics[rng.integers(TOPICS)] + rng.normal(size=512)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


async def speed() -> None:
    embedder = MadeUpVectors()
    print(f"\n{MANY:,} episodes of one soul, {MANY:,} events in Chroma (embedded), {ASKED} questions\n")
    print("| database | first recall | all is read | recall p50 | p95 | its CPU | episodes alone p50 | events alone |")
    print("|---|---|---|---|---|---|---|---|")
    with databases() as urls, tempfile.TemporaryDirectory() as folder:
        async with open_embedded(Path(folder), "events-speed") as vault:
            await _fill_vault(vault, embedder)
            for backend, url in urls.items():
                async with opened(url) as stores:
                    await _fill(stores, embedder, backend)
                    library = EventLibrary(vault, stores, embedder, time.time)
                    recall = Recall(stores, embedder, time.time, [EventSource(library)], budget_s=600)
                    print(f"| {backend} | {await _timed(recall, library)} |")
                    await recall.close()


async def _fill_vault(vault: EventCollection, embedder: MadeUpVectors) -> None:
    for start, texts in _batches("events in Chroma"):
        made = [_event(f"evt_{start + n}", text) for n, text in enumerate(texts)]
        documents = {event.event_id: event.to_json() for event in made}
        vectors = await embedder.embed([event.search_text for event in made])
        await vault.put(documents, vectors, {"audience": EVERYONE})


async def _fill(stores: Stores, embedder: MadeUpVectors, backend: str) -> None:
    """Straight into the tables, as many rows at a time as they take."""
    async with stores.write() as tx:
        await tx.sessions.add(session())
    for start, texts in _batches(f"rows in {backend}"):
        vectors = (await embedder.embed(texts)).astype("<f2")
        said = [
            _row_of_all_tables(start + n, one, vector)
            for n, (one, vector) in enumerate(zip(texts, vectors, strict=True), 1)
        ]
        async with stores.database.write() as connection:
            for table in (schema.messages, schema.episodes, schema.episode_vectors, schema.event_uses):
                rows = [{column.name: one[column.name] for column in table.c if column.name in one} for one in said]
                await connection.execute(insert(table), rows)
    async with stores.database.write() as connection:
        await connection.execute(text("ANALYZE"))  # as PostgreSQL does by itself a minute later


def _row_of_all_tables(message_id: int, text: str, vector: Vectors) -> Json:
    """A message, how it is found, and an event of the same number: the columns of all tables in one."""
    by_user, now = message_id % 2 == 1, time.time()
    own = fields_of(message(text, role="user" if by_user else "assistant", created_at=now))
    found = {"soul_id": "soul_1", "previous_id": message_id - 1 or None, "by_user": by_user, "at": now}
    meant = {**index_columns(text, now, None), "model": "made-up", "vector": vector.tobytes()}
    event = {"event_id": f"evt_{message_id - 1}", "recalled": 0, "useful": 0, "merged": 0, "audience": EVERYONE}
    return {"message_id": message_id, "session_id": "sess_1", **own, **found, **meant, **event}


def _event(event_id: str, text: str) -> Event:
    return Event(event_id, text, Pattern("somebody is away", "they come back", "relief", "closer"), {}, "", "")


def _batches(what: str) -> Iterator[tuple[int, list[str]]]:
    texts = list(talk(MANY))
    for start in range(0, MANY, BATCH):
        print(f"{start:,} of {MANY:,} {what}", file=sys.stderr)
        yield start, texts[start : start + BATCH]


async def _timed(recall: Recall, library: EventLibrary) -> str:
    questions = list(talk(ASKED, seed=99))
    await library.search(questions[0], 3)  # opens Chroma
    began = time.perf_counter()
    first = await _took(recall.recall("soul_1", questions[0]))
    while not await _finds_the_oldest(recall):
        pass
    read = (time.perf_counter() - began) * 1000
    busy = time.process_time()
    both = sorted([await _took(recall.recall("soul_1", question)) for question in questions])
    cpu = f"{(time.process_time() - busy) * 1000 / ASKED:.1f} ms"
    episodes = [await _took(recall.episodes("soul_1", question, 3)) for question in questions]
    events = [await _took(library.search(question, 3)) for question in questions]
    medians = [f"{statistics.median(times):.1f} ms" for times in (both, episodes, events)]
    slow = f"{both[int(0.95 * ASKED)]:.1f} ms"
    return " | ".join([f"{first:.0f} ms", f"{read:.0f} ms", medians[0], slow, cpu, *medians[1:]])


async def _finds_the_oldest(recall: Recall) -> bool:
    """It is read last."""
    found = await recall.episodes("soul_1", next(talk(1)), 3)
    return any(one.message.message_id == 1 for one in found)


async def _took(search: Awaitable[object]) -> float:
    start = time.perf_counter()
    await search
    return (time.perf_counter() - start) * 1000
