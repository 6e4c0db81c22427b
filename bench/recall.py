"""Recall: how much of what was said is found again, and how fast. Prints the tables of bench/RESULTS.md.

    python bench/recall.py [quality] [speed]

Quality: questions about a long bilingual conversation, asked in either language and mostly in other words than the
answer. Hybrid, meaning alone and words alone (BM25) rank the same index. Then what is asked that has no answer, and
what it would cost to be silent more often. Speed: 100,000 episodes of one soul and 100,000 events, on each database.
PostgreSQL is asked where the tests find one.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import numpy as np
import yaml
from sqlalchemy import insert, text
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from soulgraph.bench.made_up import talk
from soulgraph.memory.chroma import EventCollection, open_embedded
from soulgraph.memory.events import Event, EventLibrary, Pattern
from soulgraph.memory.ranking import EPISODES, Weights
from soulgraph.memory.recall import Recall, RecalledEpisode
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.ports import Embedder, Vectors
from soulgraph.senses.tokenizer import fingerprints
from soulgraph.soul.people import EVERYONE
from soulgraph.stores import schema
from soulgraph.stores.database import Database
from soulgraph.stores.records import Json
from soulgraph.stores.repository import fields_of
from soulgraph.stores.stores import Stores
from soulgraph.tests import services
from soulgraph.tests.stores.samples import message, session, soul

DATA = Path(__file__).parent / "data"
TOP = 10
MANY, BATCH, ASKED, TOPICS = 100_000, 5000, 100, 500
_UNWEIGHTED = Weights(
    neighbours=(0, 0, 0, 0), by_user=0, recent=0, useful=0, floor=1e-6, relative_floor=0, min_similarity=0
)
WAYS = {
    "hybrid": EPISODES,
    "meaning alone": replace(_UNWEIGHTED, lexical=0),
    "words alone (BM25)": replace(_UNWEIGHTED, dense=0),
}
MIN_SIMILARITIES = (0.0, 0.29, 0.31, 0.33, 0.35, 0.37, 0.40)


def read(name: str) -> Json:
    data: Json = yaml.safe_load((DATA / f"{name}.yaml").read_text("utf-8"))
    return data


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder, services.postgres_schema() as postgres:
        yield {"SQLite": f"sqlite:///{folder}/soulgraph.db", "PostgreSQL": postgres}


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Stores]:
    async with Database.open(url) as database:
        stores = Stores(database)
        async with stores.write() as tx:
            await tx.souls.add(soul())
        yield stores


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked: with an answer (in the database's ids), without one, and what should bring nothing to mind."""

    questions: list[Json]
    ids: dict[int, int]
    nothing: dict[str, list[str]]


async def quality(embedder: Embedder) -> None:
    conversation = read("long_conversation")
    nothing = read("nothing_to_recall")
    now = max(moment(said) for said in conversation["messages"])
    print(f"\n{len(conversation['messages'])} messages, {len(conversation['questions'])} questions\n")
    print("| database | ranking | evidence in the top 10 | 1st half | 2nd half | zh | en | … or beside it |")
    print("|---|---|---|---|---|---|---|---|")
    silences = []
    with databases() as urls:
        for backend, url in urls.items():
            async with opened(url) as stores:
                asked = Asked(conversation["questions"], await tell(stores, conversation["messages"]), nothing)
                await index_all(Recall(stores, embedder, None, lambda: now))
                for way, weights in WAYS.items():
                    recall = Recall(stores, embedder, None, lambda: now, weights=weights)
                    shares, _ = await evidence_found(recall, asked)
                    print(f"| {backend} | {way} | {' | '.join(f'{share:.3f}' for share in shares.values())} |")
                if not silences:
                    silences = [await _silence(stores, embedder, now, asked, least) for least in MIN_SIMILARITIES]
    print("\n| spark | evidence in the top 10 | nothing said: questions without an answer | foreign | small talk |")
    print("|---|---|---|---|---|")
    print("\n".join(silences))


async def _silence(stores: Stores, embedder: Embedder, now: float, asked: Asked, min_similarity: float) -> str:
    recall = Recall(stores, embedder, None, lambda: now, weights=replace(EPISODES, min_similarity=min_similarity))
    shares, silent = await evidence_found(recall, asked)
    counts = [f"{silent} of {sum(not question['answerable'] for question in asked.questions)}"]
    for kind in ("foreign", "small_talk"):
        found = [await recall.episodes("soul_1", text, TOP) for text in asked.nothing[kind]]
        counts.append(f"{found.count([])} of {len(found)}")
    return f"| {min_similarity:.2f} | {shares['all']:.3f} | {' | '.join(counts)} |"


async def tell(stores: Stores, messages: Sequence[Json]) -> dict[int, int]:
    """What was said, in its sessions; the ids it has in the data and in the database."""
    ids: dict[int, int] = {}
    for name in dict.fromkeys(said["session"] for said in messages):
        own = [said for said in messages if said["session"] == name]
        async with stores.write() as tx:
            await tx.sessions.add(session(f"sess_{name}"))
            rows = [message(said["text"], role=said["role"], created_at=moment(said)) for said in own]
            await tx.messages.append(f"sess_{name}", rows)
            stored = await tx.messages.page(f"sess_{name}")
        ids.update(zip([said["id"] for said in own], [one.message_id for one in stored], strict=True))
    return ids


def moment(said: Json) -> float:
    return datetime.fromisoformat(str(said["at"])).replace(tzinfo=UTC).timestamp()


async def index_all(recall: Recall) -> None:
    while await recall.index():
        pass


async def evidence_found(recall: Recall, asked: Asked) -> tuple[dict[str, float], int]:
    """The mean shares of evidence that are found, and how many questions without an answer find nothing."""
    shares: dict[str, list[float]] = {name: [] for name in ("all", "0", "1", "zh", "en", "beside")}
    silent = 0
    for n, question in enumerate(asked.questions):
        found = await recall.episodes("soul_1", question["text"], TOP)
        evidence = {asked.ids[one] for one in question["evidence"]}
        if not evidence:
            silent += not found
            continue
        share = len(evidence & {one.message.message_id for one in found}) / len(evidence)
        for name in ("all", str(n % 2), question["lang"]):
            shares[name].append(share)
        shares["beside"].append(len(evidence & _shown(found)) / len(evidence))
    return {name: statistics.mean(values) for name, values in shares.items()}, silent


def _shown(found: Sequence[RecalledEpisode]) -> set[int]:
    return {said.message_id for one in found for said in (one.message, one.before, one.after) if said}


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
                    recall = Recall(stores, embedder, library, time.time, budget_s=600)
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
    meant = {"terms": fingerprints(text), "model": "made-up", "vector": vector.tobytes()}
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


async def main(parts: Sequence[str]) -> None:
    threadpool_limits(limits=1, user_api="blas")  # as the built-in encoder has it
    if "quality" in parts:
        async with open_local_embedder() as embedder:
            await quality(embedder)
    if "speed" in parts:
        await speed()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["quality", "speed"]))
