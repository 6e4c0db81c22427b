"""What it costs to start a server, and what it takes while nobody talks to it; beside what it is made of.

Run with `python bench/startup.py [--rounds 5]`; it prints the table of bench/RESULTS.md. The server is started as users
start it: with a new data directory, and again with the same one. Rounds of all alternate, so that a busy machine slows
them alike: the ratio to the bare imports is of no machine.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

IDLE_S = 10
IMPORTS = """
import fastapi, langchain_core.language_models, langgraph.graph, numpy, sqlalchemy.ext.asyncio
print("http://none", flush=True)
input()
"""
BARE_APP = """
import socket, fastapi, uvicorn
app = fastapi.FastAPI()
app.get("/readyz")(lambda: {})
listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
uvicorn.Server(uvicorn.Config(app, log_config=None)).run([listener])
"""
UNITS = {"first line": "s", "first line CPU": "s", "ready": "s", "ready CPU": "s", "RSS": "MB", "PSS": "MB"}
Measured = dict[str, float]


def cpu_s(pid: int) -> float:
    """User and system time of all threads of a process up to now."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> Measured:
    """What `/proc` says of a process: Rss, Pss, Anonymous and others."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()[1:]
    return {line.partition(":")[0]: int(line.split()[1]) / 1024 for line in lines}


@contextmanager
def started(*command: str, **env: str) -> Iterator[subprocess.Popen[str]]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("SOULGRAPH_")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env={**own, **env}, text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def measure(idle_s: float, *command: str, talks_first: bool = False, **env: str) -> Measured:
    """`talks_first`: it says on standard error that it starts, before it says on standard output that it is there."""
    began = time.monotonic()
    with started(*command, **env) as process:
        measured = {}
        if talks_first:
            process.stderr.readline()
            measured |= {"first line": time.monotonic() - began, "first line CPU": cpu_s(process.pid)}
        address = next(word for word in process.stdout.readline().split() if word.startswith("http"))
        if address != "http://none":
            urllib.request.urlopen(f"{address}/readyz").read()
        measured |= {"ready": time.monotonic() - began, "ready CPU": cpu_s(process.pid)}
        time.sleep(idle_s)
        memory = memory_mb(process.pid)
    return measured | {"RSS": memory["Rss"], "PSS": memory["Pss"]}


def candidates(folder: str, idle_s: float) -> dict[str, Callable[[], Measured]]:
    """What is measured, in this order; the first start makes the data directory for the second."""
    python, serve = sys.executable, [str(Path(sys.executable).with_name("soulgraph")), "serve", "--port", "0"]

    def start() -> Measured:
        return measure(idle_s, *serve, talks_first=True, SOULGRAPH_DATA_DIR=folder)

    return {
        "bare imports": lambda: measure(1, python, "-c", IMPORTS),
        "bare FastAPI app": lambda: measure(1, python, "-c", BARE_APP),
        "soulgraph, first start": start,
        "soulgraph, again": start,
    }


def main(rounds: int, idle_s: float) -> None:
    measured: dict[str, list[Measured]] = {}
    for n in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            for name, measure_one in candidates(folder, idle_s).items():
                measured.setdefault(name, []).append(measure_one())
        print(f"  … round {n + 1} of {rounds}", file=sys.stderr, flush=True)
    print(f"| | {' | '.join(f'{name} ({unit})' for name, unit in UNITS.items())} | CPU / imports |")
    print("|---" * (len(UNITS) + 2) + "|")
    medians = {
        name: {unit: statistics.median(one[unit] for one in all_of) for unit in all_of[0]}
        for name, all_of in measured.items()
    }
    for name, median in medians.items():
        cells = [f"{median[unit]:.2f}" if unit in median else "" for unit in UNITS]
        print(f"| {name} | {' | '.join(cells)} | {median['ready CPU'] / medians['bare imports']['ready CPU']:.2f} |")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--idle", type=float, default=IDLE_S, help="seconds before memory is measured")
    chosen = options.parse_args()
    main(chosen.rounds, chosen.idle)
