"""What traces cost: the same turns with tracing off, to a LangSmith-compatible server, and over OTLP.

Run with `python bench/tracing.py`; it prints a Markdown table. The model and the receiver of the traces are processes
of their own, so their time does not count; the time of our threads that send does, and so does what follows a turn.
Short blocks of turns alternate, and each is compared with the untraced one beside it, so that other work on the machine
slows both alike.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import langsmith
import uvloop

from soulgraph.bench.turn import soulgraph_turns, stub_model
from soulgraph.runtime.tracing.trace import add_decision, add_labels, current_labels, keep_private, traced
from soulgraph.tests.runtime.tracing.receiver import receiving

ROUNDS, WARM_UP, TURNS = 8, 3, 12
SETTLE_S = 1.5  # a batch of traces waits for a second
IMPORT = """
import time, soulgraph.server
began = time.process_time()
import soulgraph.runtime.tracing.otlp
print((time.process_time() - began) * 1e3)
"""


class Spent(NamedTuple):
    """Milliseconds of processor time a turn, of wall time of each, and what the receiver got of them."""

    cpu: float
    walls: list[float]
    runs: float
    sent_bytes: float


@contextmanager
def receiver() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, __file__, "receive"], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


async def receive() -> None:
    async with receiving() as receiver:
        print(receiver.url, flush=True)
        await asyncio.Event().wait()


async def received(receiver_url: str) -> dict[str, int]:
    """How many runs and bytes have arrived."""
    async with httpx.AsyncClient() as client:
        return (await client.get(f"{receiver_url}/received")).json()


async def block(base_url: str, receiver_url: str, **settings: str) -> Spent:
    with tempfile.TemporaryDirectory() as home:
        async with soulgraph_turns(base_url, Path(home), **settings) as talker:
            for n in range(WARM_UP):
                await talker.turn(f"warm {n}")
            await talker.settled()
            await asyncio.sleep(SETTLE_S)
            before = await received(receiver_url)
            began, walls = time.process_time(), []
            for n in range(TURNS):
                asked = time.perf_counter()
                await talker.turn(f"s {n}")
                walls.append((time.perf_counter() - asked) * 1e3)
            await talker.settled()
            await asyncio.sleep(SETTLE_S)
            cpu = (time.process_time() - began) * 1e3 / TURNS
    after = await received(receiver_url)
    return Spent(cpu, walls, *((after[what] - before[what]) / TURNS for what in ("runs", "bytes")))


def overhead_when_off() -> float:
    """Microseconds of what a turn does for a trace that nobody reads."""
    times = 10_000
    began = time.process_time()
    for _ in range(times):
        with traced(terminal_id=None):
            add_labels(mbti="INFJ", persona_mode="hybrid")
            add_labels(exec_mode="auto_execute")
            keep_private("a thought")
            for _ in range(3):
                add_decision("turn.completed", {"session_id": "s", "sources": []})
            current_labels()
    return (time.process_time() - began) * 1e6 / times


def import_of_otlp() -> float:
    return float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)


def report(measured: dict[str, list[Spent]]) -> None:
    """Ratios are medians over the rounds, each of a block over the untraced one of its round."""
    print("| traces | CPU ms a turn | added | CPU ratio | p50 wall ms | runs a turn | bytes a turn |")
    print("|---|---|---|---|---|---|---|")
    off = [spent.cpu for spent in measured["off"]]
    for mode, blocks in measured.items():
        cpu = [spent.cpu for spent in blocks]
        ratio = statistics.median(one / base for one, base in zip(cpu, off, strict=True))
        added = statistics.median(one - base for one, base in zip(cpu, off, strict=True))
        wall = statistics.median(wall for spent in blocks for wall in spent.walls)
        costs = f"{statistics.median(cpu):.1f} | {added:.1f} | {ratio:.2f} | {wall:.1f}"
        print(f"| {mode} | {costs} | {blocks[-1].runs:.0f} | {blocks[-1].sent_bytes:.0f} |")


async def main() -> None:
    measured: dict[str, list[Spent]] = defaultdict(list)
    with receiver() as url, stub_model(chunk_size=4096) as base_url:
        os.environ |= {"LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": "none"}
        modes = {"off": {}, "LangSmith": {}, "OTLP": {"otlp_endpoint": f"{url}/v1/traces"}}
        for n in range(ROUNDS):
            for mode, settings in modes.items():
                langsmith.configure(enabled=mode == "LangSmith")
                measured[mode].append(await block(base_url, url, **settings))
            print(f"  … round {n + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    report(measured)
    print(f"\noff, what is left of it in a turn: {overhead_when_off():.0f} µs")
    print(f"importing what OTLP needs, only when it is on: {import_of_otlp():.0f} ms of CPU")


if __name__ == "__main__":
    uvloop.run(receive() if sys.argv[1:] == ["receive"] else main())
