"""Two groups of two servers, each group with a database of its own, and souls divided among the groups by their ids.

While people talk at all four, one server is killed with SIGKILL and started again. Then every answer is counted against
what is stored: each is there once, as a question and its answer, and nothing else is. For `bench/scale.py`.
"""

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import httpx

from soulgraph.bench.load import BenchServer, Load, quantile
from soulgraph.bench.soak.checks import once, pairs
from soulgraph.bench.soak.stored import Stored, read
from soulgraph.bench.turn import stub_model
from soulgraph.tests.live import new_soul
from soulgraph.tests.memory.chroma import chroma_server
from soulgraph.tests.services import postgres_schema

WARM_UP_S, TALK = 5.0, 10


class Group(NamedTuple):
    """A database and the servers on it."""

    url: str
    servers: list[BenchServer]


@asynccontextmanager
async def groups(count: int, servers: int, model: str, database_url: str) -> AsyncIterator[list[Group]]:
    async with AsyncExitStack() as stack:
        made = []
        for _ in range(count):
            url = stack.enter_context(postgres_schema(database_url))
            chroma = stack.enter_context(chroma_server(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
            made.append(Group(url, [await _server(stack, model, url, chroma) for _ in range(servers)]))
        yield made


async def _server(stack: AsyncExitStack, model: str, url: str, chroma: str) -> BenchServer:
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    voice = {"llm_base_url": model, "llm_model": "stub", "max_turns": "256"}
    server = BenchServer(data_dir=folder, database_url=url, chroma_url=chroma, **voice)
    await server.start()
    stack.callback(server.kill)
    return server


async def people(made: Sequence[Group], count: int) -> list[dict[str, Any]]:
    """Each with a soul of their own, in the group that the soul's key says."""
    found = []
    for n in range(count):
        group = made[crc32(f"person-{n}".encode()) % len(made)]
        urls = [server.url for server in group.servers]
        async with httpx.AsyncClient(base_url=urls[0], timeout=60) as client:
            soul_id = await new_soul(client, f"soul {n}")
        found.append({"urls": urls, "soul_id": soul_id, "name": f"p{n}", "first": n % len(urls)})
    return found


async def talk_and_kill(made: Sequence[Group], talkers: Sequence[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """At a quarter of the time one server is killed; from the half on it is started again."""
    load, victim = Load(talkers, seconds, WARM_UP_S, TALK), made[0].servers[0]
    await load.line()
    began = asyncio.get_running_loop().time()
    await asyncio.sleep(seconds / 4)
    victim.kill()
    killed = asyncio.get_running_loop().time() - began
    await asyncio.sleep(seconds / 4)
    await victim.start()
    back = asyncio.get_running_loop().time() - began
    await load.line()
    return await load.told() | {"killed": killed, "back": back}


def faults(made: Sequence[Group], answered: Sequence[str]) -> list[str]:
    """What is lost, doubled or not as it was answered, in all databases together."""
    stored = [read(group.url) for group in made]
    wrong = [flaw for one in stored for flaw in (*pairs(one), *_doubled(one))]
    there = Counter(row.input_id for one in stored for row in one.turns if row.answer is not None)
    wrong += [f"answered and not stored: {one}" for one in answered if one not in there]
    wrong += [f"stored and never answered: {one}" for one in there.keys() - set(answered)]
    return wrong + [f"in two groups: {one}" for one, times in there.items() if times > 1]


def _doubled(stored: Stored) -> list[str]:
    """One input is one turn; what people say here repeats, so the words themselves do not count."""
    return [flaw for flaw in once(stored) if not flaw.startswith("said twice")]


def table(told: dict[str, Any], seconds: float) -> str:
    """Turns a second of each phase, and how long they took."""
    phases = {"before": (0.0, told["killed"]), "one of four dead": (told["killed"], told["back"])}
    phases["after its return"] = (told["back"], seconds)
    lines = ["| | s | turns a second | p50 ms | p95 | longest |", "|---|---|---|---|---|---|"]
    for name, (since, until) in phases.items():
        took = [ms * 1e3 for at, ms, _ in told["answers"] if since <= at + ms < until]
        span = max(until - since, 0.001)
        waits = " | ".join(f"{quantile(took, share):.0f}" for share in (0.5, 0.95, 1.0)) if took else "– | – | –"
        lines.append(f"| {name} | {span:.0f} | {len(took) / span:.1f} | {waits} |")
    return "\n".join(lines)


async def simulate(database_url: str, sessions: int, seconds: float) -> int:
    """Prints what happened; returns how many faults were found."""
    with stub_model(chunk_size=4096) as model:
        async with groups(2, 2, model, database_url) as made:
            talkers = await people(made, sessions)
            told = await talk_and_kill(made, talkers, seconds)
            wrong = faults(made, told["input_ids"])
    refused: Counter[str] = Counter()
    for reasons in told["refused"]:
        refused.update(reasons)
    sizes = Counter(talker["urls"][0] for talker in talkers)
    print(table(told, seconds))
    print(
        f"\n{sessions} people, {' and '.join(map(str, sizes.values()))} in the two groups; sent again: {dict(refused)}"
    )
    print(f"{len(told['input_ids'])} turns answered; lost, doubled or not as answered: {len(wrong)}")
    print("\n".join(wrong[:20]))
    return len(wrong)
