"""One turn, side by side: soulgraph against `langchain.agents.create_agent`, both over HTTP to an instant stub model.

Run with `make bench` or `python bench/turn.py`; it prints the tables of bench/RESULTS.md. Figures are ratios within
one run: rounds of both alternate, so that a busy machine slows both alike.
"""

import asyncio
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import uvloop
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from soulgraph.runtime.admission import TurnRequest
from soulgraph.server import open_services
from soulgraph.settings import Settings
from soulgraph.stores.factories import new_soul
from soulgraph.tests.e2e.afterglow import EXTRACTS, REFLECTS, event, reflection

ROOT = Path(__file__).parent.parent
SOUL_TURN = "<narrative>I hear you. Tell me more.</narrative><state_update_json>{}</state_update_json>"
SAYING = "I went for a walk by the river today and it rained a little."
WARM_UP, FRESH, LONG, WINDOW = 10, 100, 500, 10


def sayings() -> Iterator[str]:
    """No line twice: what is remembered of a text, such as its vector, would make a second time cheaper."""
    return (f"{SAYING[:-1]}, as it does on day {n}." for n in count(1))


class Talker(NamedTuple):
    """Somebody to talk to; `settled` waits for what a turn leaves to be done when it has answered."""

    turn: Callable[[str], Awaitable[None]]
    settled: Callable[[], Awaitable[None]]


class Cost(NamedTuple):
    """Milliseconds: processor time of all threads of this process and wall time up to the answer, and processor time
    of what is done after it."""

    cpu: float
    wall: float
    after: float


@contextmanager
def stub_model(**reply: Any) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, ROOT / "tests" / "stub_openai.py", "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    try:
        base_url = process.stdout.readline().split()[1]
        httpx.put(base_url.replace("/v1", "/_default"), json={"text": SOUL_TURN, **reply}).raise_for_status()
        tasks = {EXTRACTS: asdict(event("the weather")), REFLECTS: asdict(reflection())}
        httpx.put(base_url.replace("/v1", "/_when"), json=tasks).raise_for_status()
        yield base_url
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def soulgraph_turns(base_url: str, folder: Path, **more: Any) -> AsyncIterator[Talker]:
    voice = {"llm_base_url": base_url, "llm_model": "stub", "llm_carrier": "tags"}
    settings = Settings(data_dir=folder, _env_file=None, **voice, **more)
    async with open_services(settings) as services:
        async with services.stores.write() as tx:
            born = {"name": "a", "mbti_type": "INFJ", "user_id": "u", "character_id": "xiaoman"}
            soul = await new_soul(tx, **born, now=time.time())
            await tx.souls.add(soul)

        lines = sayings()

        async def turn(session_id: str) -> None:
            request = TurnRequest(next(lines), "u", soul_id=soul.soul_id, session_id=session_id)
            await (await services.runner.start(request)).answer()

        async def settled() -> None:
            left = True
            while left:
                await asyncio.sleep(0.01)
                async with services.stores.read() as tx:
                    left = bool({"pending", "running"} & (await tx.outbox.counts()).keys())

        yield Talker(turn, settled)


@asynccontextmanager
async def agent_turns(base_url: str, folder: Path) -> AsyncIterator[Talker]:
    def look_up(query: str) -> str:
        """Look something up."""
        return query

    async with AsyncSqliteSaver.from_conn_string(str(folder / "agent.db")) as saver:
        model = ChatOpenAI(model="stub", base_url=base_url, api_key="none")
        agent = create_agent(model, [look_up], checkpointer=saver, system_prompt="You are a companion.")

        lines = sayings()

        async def turn(thread_id: str) -> None:
            said = {"messages": [("user", next(lines))]}
            config = {"configurable": {"thread_id": thread_id}}
            async for _ in agent.astream(said, config, stream_mode="messages"):
                pass

        async def settled() -> None:
            pass

        yield Talker(turn, settled)


async def cost(talker: Talker, conversation: str) -> Cost:
    """Of one turn, and of nothing that turns before it have left."""
    cpu, wall = time.process_time(), time.perf_counter()
    await talker.turn(conversation)
    answered, wall = time.process_time(), time.perf_counter() - wall
    await talker.settled()
    return Cost((answered - cpu) * 1e3, wall * 1e3, (time.process_time() - answered) * 1e3)


def typical(costs: list[Cost]) -> Cost:
    """Medians; after most turns there is little to be done, and after some a lot, so of that the mean."""
    cpu, wall, after = zip(*costs, strict=True)
    return Cost(statistics.median(cpu), statistics.median(wall), statistics.fmean(after))


async def compare(talkers: dict[str, Talker], observe: Callable[[int], None]) -> dict[str, dict[str, Cost]]:
    """The cost of turn 1 (of many conversations) and around turns 10, 100 and 500 (of one)."""
    measured: dict[str, dict[str, list[Cost]]] = {name: {} for name in talkers}
    for n in range(-WARM_UP, FRESH):
        for name, talker in talkers.items():
            spent = await cost(talker, f"fresh {n}")
            if n >= 0:
                measured[name].setdefault("1", []).append(spent)
    for n in range(1, LONG + 1):
        for name, talker in talkers.items():
            spent = await cost(talker, "long")
            for mark in (10, 100, LONG):
                if mark - WINDOW < n <= mark:
                    measured[name].setdefault(str(mark), []).append(spent)
        observe(n)
    return {name: {mark: typical(costs) for mark, costs in marks.items()} for name, marks in measured.items()}


async def steadiness(talker: Talker) -> float:
    """What a turn of the long conversation costs, over the tenth of others, alternating."""
    for n in range(FRESH // 2):
        for _ in range(9):
            await talker.turn(f"early {n}")
    await talker.settled()
    costs = [(await cost(talker, f"early {n}"), await cost(talker, "long")) for n in range(FRESH // 2)]
    early, late = (typical(list(side)) for side in zip(*costs, strict=True))
    return late.cpu / early.cpu


async def turn_costs() -> None:
    with stub_model(chunk_size=4096) as base_url, tempfile.TemporaryDirectory() as home:
        folder, pages = Path(home), {}

        def observe(n: int) -> None:
            if n % 100 == 0:
                with sqlite3.connect(folder / "soulgraph.db") as database:
                    pages[n] = database.execute("PRAGMA page_count").fetchone()[0]
                print(f"  … turn {n} of {LONG}", file=sys.stderr, flush=True)

        async with soulgraph_turns(base_url, folder) as ours, agent_turns(base_url, folder) as theirs:
            measured = await compare({"soulgraph": ours, "create_agent": theirs}, observe)
            steady = await steadiness(ours)
    print("| turn | soulgraph CPU ms (p50 wall) | create_agent CPU ms (p50 wall) | CPU ratio | wall ratio | later |")
    print("|---|---|---|---|---|---|")
    for mark, ours in measured["soulgraph"].items():
        theirs = measured["create_agent"][mark]
        costs = f"{ours.cpu:.1f} ({ours.wall:.1f}) | {theirs.cpu:.1f} ({theirs.wall:.1f})"
        ratios = f"{ours.cpu / theirs.cpu:.2f} | {ours.wall / theirs.wall:.2f}"
        print(f"| {mark} | {costs} | {ratios} | {ours.after:.1f} |")
    print(f"\nsoulgraph at turn {LONG} / at turn 10: {steady:.2f} (CPU)")
    grown = [(pages[n] - pages[n - 100]) * 4096 // 100 for n in sorted(pages)[1:]]
    print(f"database growth, bytes a turn, in each further hundred turns: {', '.join(map(str, grown))}")


if __name__ == "__main__":
    uvloop.run(turn_costs())
