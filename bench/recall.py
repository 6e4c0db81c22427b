"""Recall: how much of what was said is found again, and how fast. Prints the tables of bench/RESULTS.md.

    python bench/recall.py [quality] [speed]

Quality: questions about a long bilingual conversation, asked in either language and mostly in other words than the
answer. Hybrid, meaning alone and words alone (BM25) rank the same index. Speed: 100,000 episodes of one soul on SQLite,
20,000 on PostgreSQL, which takes longer to fill, and 20,000 events. PostgreSQL is asked where the tests find one.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from zlib import crc32

import numpy as np
import yaml
from sqlalchemy import insert

from soulgraph.bench.made_up import talk
from soulgraph.memory.chroma import Vault, open_embedded
from soulgraph.memory.events import Event, EventLibrary, Pattern
from soulgraph.memory.ranking import EPISODES, Weights
from soulgraph.memory.recall import Recall, RecalledEpisode
from soulgraph.senses.embedding.local import open_local_embedder
from soulgraph.senses.ports import Embedder, Vectors
from soulgraph.stores import schema
from soulgraph.stores.database import Database
from soulgraph.stores.records import EpisodeVector, Json
from soulgraph.stores.stores import Stores
from soulgraph.tests import services
from soulgraph.tests.conformance.samples import message, session, soul

CONVERSATION = Path(__file__).parent / "data" / "long_conversation.yaml"
TOP = 10
BATCH, ASKED, TOPICS = 4000, 100, 500
EPISODES_IN = {"SQLite": 100_000, "PostgreSQL": 20_000}
EVENTS_IN_CHROMA = 20_000
WAYS = {
    "hybrid": EPISODES,
    "meaning alone": Weights(lexical=0, by_user=0, recent=0, useful=0, spark=0),
    "words alone": Weights(lexical=1, dense=0, by_user=0, recent=0, useful=0, context=0, floor=1e-6, spark=0),
}


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


async def quality(embedder: Embedder) -> None:
    conversation = yaml.safe_load(CONVERSATION.read_text("utf-8"))
    asked, now = conversation["questions"], max(_moment(said) for said in conversation["messages"])
    print(f"\n{len(conversation['messages'])} messages, {len(asked)} questions\n")
    print("| database | ranking | evidence in the top 10 | … or beside it | zh | en | unanswerable: nothing returned |")
    print("|---|---|---|---|---|---|---|")
    with databases() as urls:
        for backend, url in urls.items():
            async with opened(url) as stores:
                ids = await _tell(stores, conversation["messages"])
                await _index(Recall(stores, embedder, None, lambda: now))
                for way, weights in WAYS.items():
                    recall = Recall(stores, embedder, None, lambda: now, weights=weights)
                    print(f"| {backend} | {way} | {await _judged(recall, asked, ids)} |")


async def _tell(stores: Stores, messages: Sequence[Json]) -> dict[int, int]:
    """What was said, in its sessions; the ids it has in the data and in the database."""
    ids: dict[int, int] = {}
    for name in dict.fromkeys(said["session"] for said in messages):
        own = [said for said in messages if said["session"] == name]
        async with stores.write() as tx:
            await tx.sessions.add(session(f"sess_{name}"))
            rows = [message(said["text"], role=said["role"], created_at=_moment(said)) for said in own]
            await tx.messages.append(f"sess_{name}", rows)
            stored = await tx.messages.page(f"sess_{name}")
        ids.update(zip([said["id"] for said in own], [one.message_id for one in stored], strict=True))
    return ids


def _moment(said: Json) -> float:
    return datetime.fromisoformat(str(said["at"])).replace(tzinfo=UTC).timestamp()


async def _index(recall: Recall) -> None:
    while await recall.index():
        pass


async def _judged(recall: Recall, questions: Sequence[Json], ids: dict[int, int]) -> str:
    shares: dict[str, list[float]] = {"all": [], "beside": [], "zh": [], "en": []}
    silent = []
    for question in questions:
        found = await recall.episodes("soul_1", question["text"], TOP)
        if not question["answerable"]:
            silent.append(not found)
            continue
        evidence = {ids[one] for one in question["evidence"]}
        share = len(evidence & {one.message.message_id for one in found}) / len(evidence)
        shares["all"].append(share)
        shares[question["lang"]].append(share)
        shares["beside"].append(len(evidence & _shown(found)) / len(evidence))
    means = [f"{statistics.mean(shares[name]):.2f}" for name in ("all", "beside", "zh", "en")]
    return " | ".join([*means, f"{sum(silent)} of {len(silent)}"])


def _shown(found: Sequence[RecalledEpisode]) -> set[int]:
    return {said.message_id for one in found for said in (one.message, one.before, one.after) if said}


class MadeUpMeanings:
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
    embedder = MadeUpMeanings()
    print(f"\n{EVENTS_IN_CHROMA:,} events in Chroma (embedded), {ASKED} questions\n")
    print("| database | episodes | loading the index | recall p50 | p95 | episodes alone p50 | events alone p50 |")
    print("|---|---|---|---|---|---|---|")
    with databases() as urls, tempfile.TemporaryDirectory() as folder:
        async with open_embedded(Path(folder), "events-speed") as vault:
            for backend, url in urls.items():
                async with opened(url) as stores:
                    library = EventLibrary(vault, stores, embedder, time.time)
                    await _fill(stores, embedder, EPISODES_IN[backend])
                    await _fill_events(stores, vault, embedder, in_chroma_too=backend == "SQLite")
                    recall = Recall(stores, embedder, library, time.time, budget_s=600)
                    print(f"| {backend} | {EPISODES_IN[backend]:,} | {await _timed(recall, library)} |")


async def _fill(stores: Stores, embedder: MadeUpMeanings, episodes: int) -> None:
    async with stores.write() as tx:
        await tx.sessions.add(session())
    for texts in _batches(episodes):
        async with stores.write() as tx:
            before = await tx.vectors.last_message()
            await tx.messages.append("sess_1", [message(text) for text in texts])
            vectors = (await embedder.embed(texts)).astype("<f2")
            rows = zip(await tx.messages.page("sess_1", before), vectors, strict=True)
            await tx.vectors.put([EpisodeVector(said.message_id, "soul_1", "made-up", v.tobytes()) for said, v in rows])


async def _fill_events(stores: Stores, vault: Vault, embedder: MadeUpMeanings, in_chroma_too: bool) -> None:
    for n, texts in enumerate(_batches(EVENTS_IN_CHROMA)):
        made = [_event(f"evt_{n}_{i}", text) for i, text in enumerate(texts)]
        if in_chroma_too:
            documents = {event.event_id: event.to_json() for event in made}
            await vault.put(documents, await embedder.embed([event.found_by for event in made]))
        async with stores.database.write() as connection:
            counts = {"recalled": 0, "useful": 0, "merged": 0, "created_at": time.time()}
            await connection.execute(
                insert(schema.event_uses), [{"event_id": event.event_id, **counts} for event in made]
            )


def _event(event_id: str, text: str) -> Event:
    return Event(event_id, text, Pattern("somebody is away", "they come back", "relief", "closer"), {}, "", "")


def _batches(many: int) -> Iterator[list[str]]:
    texts = list(talk(many))
    return (texts[start : start + BATCH] for start in range(0, many, BATCH))


async def _timed(recall: Recall, library: EventLibrary) -> str:
    questions = list(talk(ASKED, seed=99))
    first = await _took(recall.recall("soul_1", questions[0]))
    both = sorted([await _took(recall.recall("soul_1", question)) for question in questions])
    episodes = [await _took(recall.episodes("soul_1", question, 3)) for question in questions]
    events = [await _took(library.search(question, 3)) for question in questions]
    medians = [f"{statistics.median(times):.1f} ms" for times in (both, episodes, events)]
    return " | ".join([f"{first:.0f} ms", medians[0], f"{both[int(0.95 * ASKED)]:.1f} ms", *medians[1:]])


async def _took(search: Awaitable[object]) -> float:
    start = time.perf_counter()
    await search
    return (time.perf_counter() - start) * 1000


async def main(parts: Sequence[str]) -> None:
    if "quality" in parts:
        async with open_local_embedder() as embedder:
            await quality(embedder)
    if "speed" in parts:
        await speed()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:] or ["quality", "speed"]))
