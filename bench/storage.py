"""Where episodes live: in the SQL store with an index in the process, or in Chroma, embedded or as a server.

    python bench/storage.py [sqlite] [postgresql] [chroma] [chroma-server] [SOULSxMESSAGES …]

The same made-up messages and vectors everywhere, so that quality is not in question. What is asked runs in a process of
its own, so that its start, its memory and its first answer are those of a cold server. Prints a table.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Protocol

import numpy as np
import psutil
from sqlalchemy import text

from soulgraph.bench.made_up import talk
from soulgraph.memory import index_cache
from soulgraph.memory.chroma import ChromaCollection, open_embedded, open_server
from soulgraph.memory.episodes import Episodes
from soulgraph.memory.ranking import Floats
from soulgraph.memory.source import Query
from soulgraph.senses.tokenizer import query_terms
from soulgraph.stores.database import Database
from soulgraph.stores.records import EpisodeVector
from soulgraph.stores.stores import Stores
from soulgraph.tests import services
from soulgraph.tests.memory.chroma import chroma_server
from soulgraph.tests.stores.samples import message, session, soul

BACKENDS = ("sqlite", "postgresql", "chroma", "chroma-server")
SIZES = ("1x1", "1x1000", "1x100000", "1000x100")
MODEL, DIMENSIONS, TOPICS = "made-up", 512, 500
BATCH, ASKED, WRITTEN, WANTED = 500, 100, 40, 12
FEW_ROWS = 10_000  # with no more in the cache than this, most of a thousand souls are read anew each time


class Memory(Protocol):
    async def write(self, soul_id: str, texts: list[str], vectors: Floats) -> None: ...

    async def recall(self, soul_id: str, question: str, vector: Floats) -> int:
        """How many were found."""
        ...

    async def whole(self, soul_id: str) -> None:
        """Wait until all that the soul has can be found: the first answer does not."""
        ...


class SqlMemory:
    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self._episodes = Episodes(stores, MODEL)

    async def write(self, soul_id: str, texts: list[str], vectors: Floats) -> None:
        told = [message(one, soul_id=soul_id, role=("user", "assistant")[n % 2]) for n, one in enumerate(texts)]
        async with self._stores.write() as tx:
            if not await tx.sessions.find(soul_id):
                await tx.souls.add(soul(soul_id))
                await tx.sessions.add(session(soul_id, soul_id=soul_id))
            ids = await tx.messages.append(soul_id, told)
            halves = vectors.astype("<f2")
            await tx.vectors.put(
                [EpisodeVector(id_, soul_id, MODEL, one.tobytes()) for id_, one in zip(ids, halves, strict=True)]
            )

    async def recall(self, soul_id: str, question: str, vector: Floats) -> int:
        query = Query(soul_id, question, query_terms(question), vector, time.time(), WANTED)
        return len(await self._episodes.search(query))

    async def whole(self, soul_id: str) -> None:
        if reading := self._episodes._indexes._cached[soul_id, None].refresh:
            await reading


class ChromaMemory:
    def __init__(self, collection: ChromaCollection) -> None:
        self._collection = collection
        self._written = 0

    async def write(self, soul_id: str, texts: list[str], vectors: Floats) -> None:
        documents = {f"{soul_id}:{self._written + n}": one for n, one in enumerate(texts)}
        self._written += len(texts)
        await self._collection.put(documents, vectors, {"soul_id": soul_id})

    async def recall(self, soul_id: str, question: str, vector: Floats) -> int:
        return len(await self._collection.near(vector, WANTED, {"soul_id": soul_id}))

    async def whole(self, soul_id: str) -> None:
        pass


@asynccontextmanager
async def opened(backend: str, place: str) -> AsyncIterator[Memory]:
    if backend == "chroma":
        async with open_embedded(Path(place), "episodes") as collection:
            yield ChromaMemory(collection)
    elif backend == "chroma-server":
        async with open_server(place, "episodes") as collection:
            yield ChromaMemory(collection)
    else:
        async with Database.open(place) as database:
            yield SqlMemory(Stores(database))


@contextmanager
def place_for(backend: str, folder: Path) -> Iterator[str]:
    if backend == "postgresql":
        with services.postgres_schema() as url:
            yield url
    elif backend == "chroma-server":
        with chroma_server(folder) as url:
            yield url
    else:
        yield f"sqlite:///{folder}/soulgraph.db" if backend == "sqlite" else str(folder)


def made_up_vectors(n: int, seed: int) -> Floats:
    """Around a few hundred topics, as what people say is."""
    topics = np.random.default_rng(1).normal(size=(TOPICS, DIMENSIONS))
    rng = np.random.default_rng(seed)
    vectors = topics[rng.integers(TOPICS, size=n)] + 0.7 * rng.normal(size=(n, DIMENSIONS))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1)[:, None], np.float32)


async def fill(backend: str, place: str, souls: int, messages: int) -> tuple[float, float]:
    """Milliseconds, of the wall and of this process, to write a message: two at a time, when all others are there."""
    texts = list(talk(messages))
    async with opened(backend, place) as memory:
        for n in range(souls):
            for start in range(0, messages, BATCH):
                part = texts[start : start + BATCH]
                await memory.write(f"soul_{n}", part, made_up_vectors(len(part), n * messages + start))
        began, busy = time.perf_counter(), time.process_time()
        for n in range(WRITTEN):
            await memory.write("soul_0", ["one more", "and its answer"], made_up_vectors(2, -n % 2**32))
        return (time.perf_counter() - began) * 500 / WRITTEN, (time.process_time() - busy) * 500 / WRITTEN


async def ask(backend: str, place: str, souls: int) -> dict[str, float]:
    """What is asked of a process that has just been started, in milliseconds and MB."""
    questions = list(zip(talk(ASKED, seed=99), made_up_vectors(ASKED, 99), strict=True))
    query_terms("你好")  # loads the tokenizer's word lists
    async with opened(backend, place) as memory:
        before, busy = _resident_mb(), time.process_time()
        first = await _took(memory.recall("soul_0", *questions[0]))
        settled = time.perf_counter()
        await memory.whole("soul_0")
        whole = first + (time.perf_counter() - settled) * 1e3
        grown, reading = _resident_mb() - before, (time.process_time() - busy) * 1e3
        warm = sorted([await _took(memory.recall("soul_0", *one)) for one in questions])
        busy = time.process_time()
        for one in questions:
            await memory.recall("soul_0", *one)
        told = {"first": first, "whole": whole, "mb": grown, "p50": warm[ASKED // 2], "p95": warm[int(0.95 * ASKED)]}
        told["reading"] = reading
        told["cpu"] = (time.process_time() - busy) * 1e3 / ASKED
        if souls > 1:
            told |= await _in_turn(memory, souls, questions[0])
    return told


async def _in_turn(memory: Memory, souls: int, question: tuple[str, Floats]) -> dict[str, float]:
    """All souls one after the other, twice; then with a cache that is too small for them."""

    def each() -> list[Awaitable[int]]:
        return [memory.recall(f"soul_{n}", *question) for n in range(souls)]

    before = _resident_mb()
    cold = [await _took(one) for one in each()]
    grown = _resident_mb() - before
    cached = [await _took(one) for one in each()]
    index_cache.MAX_ROWS = FEW_ROWS
    await memory.recall("soul_0", *question)
    thrashed = [await _took(one) for one in each()]
    medians = {"others": cold, "cached": cached, "thrashed": thrashed}
    return {name: statistics.median(times) for name, times in medians.items()} | {"mb_all": grown}


async def _took(work: Awaitable[object]) -> float:
    began = time.perf_counter()
    await work
    return (time.perf_counter() - began) * 1e3


def _resident_mb() -> float:
    return float(psutil.Process().memory_info().rss / 2**20)


def asked_in_a_process(backend: str, place: str, souls: int) -> dict[str, float]:
    began = time.perf_counter()
    asking = [sys.executable, __file__, "ask", backend, place, str(souls)]
    told: dict[str, float] = json.loads(subprocess.run(asking, capture_output=True, check=True, text=True).stdout)
    return told | {"process": (time.perf_counter() - began) * 1e3}


def size_of(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20


async def size_in_postgres(place: str) -> float:
    """MB of all tables of the schema with their indexes."""
    tables = "SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = "
    async with Database.open(place) as database, database.read() as connection:
        taken = await connection.execute(text(f"{tables} current_schema()::regnamespace"))
        return float(taken.scalar()) / 2**20


async def measure(backend: str, size: str) -> None:
    souls, messages = map(int, size.split("x"))
    with tempfile.TemporaryDirectory() as home, place_for(backend, Path(home)) as place:
        wall, cpu = await fill(backend, place, souls, messages)
        told = await asyncio.to_thread(asked_in_a_process, backend, place, souls)
        disk = await size_in_postgres(place) if backend == "postgresql" else size_of(Path(home))
    cells = [
        size,
        backend,
        f"{wall:.1f} ({cpu:.1f})",
        f"{told['first']:.0f}",
        f"{told['whole']:.0f} ({told['reading']:.0f})",
    ]
    cells += [f"{told['p50']:.1f}", f"{told['p95']:.1f}", f"{told['cpu']:.1f}", f"{told['mb']:.1f}", f"{disk:.0f}"]
    if souls > 1:
        cells += [f"{told[name]:.1f}" for name in ("others", "cached", "thrashed", "mb_all")]
    print(f"| {' | '.join(cells)} |", flush=True)


async def main(words: list[str]) -> None:
    columns = ["souls x messages", "where", "write ms a message (CPU)", "first recall ms", "whole index ms (CPU)"]
    columns += ["warm p50", "p95", "CPU", "MB in memory", "MB on disk", "others", "cached", "thrashed", "MB of all"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for size in [word for word in words if "x" in word and word[0].isdigit()] or SIZES:
        for backend in [word for word in BACKENDS if word in words] or BACKENDS:
            await measure(backend, size)


if __name__ == "__main__":
    if sys.argv[1:2] == ["ask"]:
        print(json.dumps(asyncio.run(ask(sys.argv[2], sys.argv[3], int(sys.argv[4])))))
    else:
        asyncio.run(main(sys.argv[1:]))
