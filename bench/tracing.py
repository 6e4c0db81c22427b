"""What traces cost: the same turns with tracing off, to a LangSmith-compatible server, and over OTLP.

Run with `python bench/tracing.py`; it prints a Markdown table. The model and the receiver of the traces are processes
of their own, so their time does not count; the time of our threads that send does. Blocks of turns alternate.
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

import langsmith
import uvloop

from soulgraph.bench.turn import cost, soulgraph_turns, stub_model
from soulgraph.runtime.tracing.trace import add_decision, add_labels, current_labels, keep_private, traced
from soulgraph.tests.runtime.tracing.receiver import receiving

ROUNDS, WARM_UP, TURNS = 4, 5, 25
SETTLE_S = 6.0  # a batch of spans waits up to five seconds
IMPORT = """
import time, soulgraph.server
began = time.process_time()
import soulgraph.runtime.tracing.otlp
print((time.process_time() - began) * 1e3)
"""


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


async def block(base_url: str, **settings: str) -> tuple[float, list[float]]:
    """Milliseconds of processor time a turn, with what is sent afterwards, and of wall time of each."""
    with tempfile.TemporaryDirectory() as home:
        async with soulgraph_turns(base_url, Path(home), **settings) as talker:
            for n in range(WARM_UP):
                await talker.turn(f"warm {n}")
            await asyncio.sleep(SETTLE_S)
            began = time.process_time()
            walls = [(await cost(talker, f"s {n}")).wall for n in range(TURNS)]
            await asyncio.sleep(SETTLE_S)
            return (time.process_time() - began) * 1e3 / TURNS, walls


def overhead_when_off() -> float:
    """Microseconds of what a turn does for a trace that nobody reads."""
    times = 10_000
    began = time.perf_counter()
    for _ in range(times):
        with traced(awaits="exec_mode", terminal_id=None):
            add_labels(mbti="INFJ", persona_mode="hybrid")
            add_labels(exec_mode="auto_execute")
            keep_private("a thought")
            for _ in range(3):
                add_decision("turn.completed", {"session_id": "s", "sources": []})
            current_labels()
    return (time.perf_counter() - began) * 1e6 / times


def import_of_otlp() -> float:
    return float(subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout)


async def main() -> None:
    cpu, wall = defaultdict(list), defaultdict(list)
    with receiver() as url, stub_model(chunk_size=4096) as base_url:
        os.environ |= {"LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": "none"}
        modes = {"off": {}, "LangSmith": {}, "OTLP": {"otlp_endpoint": f"{url}/v1/traces"}}
        for n in range(ROUNDS):
            for mode, settings in modes.items():
                langsmith.configure(enabled=mode == "LangSmith")
                spent, walls = await block(base_url, **settings)
                cpu[mode].append(spent)
                wall[mode] += walls
            print(f"  … round {n + 1} of {ROUNDS}", file=sys.stderr, flush=True)
    off = statistics.median(cpu["off"]), statistics.median(wall["off"])
    print("| traces | CPU ms a turn | p50 wall ms | CPU ratio | wall ratio |\n|---|---|---|---|---|")
    for mode in modes:
        spent, took = statistics.median(cpu[mode]), statistics.median(wall[mode])
        print(f"| {mode} | {spent:.1f} | {took:.1f} | {spent / off[0]:.2f} | {took / off[1]:.2f} |")
    print(f"\noff, what is left of it in a turn: {overhead_when_off():.0f} µs")
    print(f"importing what OTLP needs, only when it is on: {import_of_otlp():.0f} ms of CPU")


if __name__ == "__main__":
    uvloop.run(receive() if sys.argv[1:] == ["receive"] else main())
