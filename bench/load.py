"""How many turns a second one server does: people who talk without pause, over HTTP, with an instant stub model.

    python bench/load.py [--sessions 1 8 32 128] [--seconds 20] [--database-url postgresql://…] [--workers N]

Server, model, load and the probe of the server's loop are processes of their own. The server has the first core to
itself, the others share the last one, and PostgreSQL runs where it likes. Turns per second of the server's processor
time say what one core would do with nothing else on it; they hold on another machine of its kind, whatever runs beside.
Every turn leaves a job to be done after it; `jobs a turn` below 1 means that they are put off until the load is over.
What a core can bear for hours is `CPU ms with all jobs`, which counts until the last job is done.
At the same load: a minimal endpoint around `langchain.agents.create_agent` (`bench/agent_server.py`).
"""

import argparse
import asyncio
import json
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psutil
import psycopg

from soulgraph.bench.stalls import probing
from soulgraph.bench.turn import stub_model
from soulgraph.tests.live import ServerProcess, free_port, new_soul, until_ready
from soulgraph.tests.services import postgres_schema

FOLDER = Path(__file__).parent
SESSIONS = (1, 8, 32, 128)
WARM_UP_S, TALK = 4.0, 10
SETTLE_S, SETTLE_TRIES, START_TRIES = 3.0, 60, 4
TARGET, TARGET_SESSIONS = 70, 32


class Measured(NamedTuple):
    """Of one load: turns, seconds of the wall and of the server's processor, how long each turn and probe took, what
    was refused, by reason, how many jobs that follow turns were done meanwhile, and what a turn costs with its job."""

    turns: int
    wall_s: float
    cpu_s: float
    turn_ms: list[float]
    probe_ms: list[float]
    refused: dict[str, int]
    memory_mb: float
    jobs: int
    whole_ms: float


class BenchServer(ServerProcess):
    """`soulgraph serve`, with several workers if so wanted."""

    def __init__(self, workers: int = 1, **settings: str) -> None:
        super().__init__(log_level="warning", mqtt_url="none", **settings)
        self._workers = ["--workers", str(workers)] if workers > 1 else []

    async def start(self) -> None:
        """On a machine that is busy with other work too, a start may take a while."""
        self.launch()
        for tries_left in reversed(range(START_TRIES)):
            try:
                await until_ready(self.url, lambda: self._process is not None and self._process.poll() is None)
            except TimeoutError:
                if not tries_left:
                    raise
            else:
                return

    def launch(self) -> None:
        program = [Path(sys.executable).parent / "soulgraph", "serve", *self._workers]
        self._process = subprocess.Popen(program, env=self._env, stdout=subprocess.DEVNULL)


class Load:
    """The generator; its lines say when the time that counts begins and ends."""

    def __init__(self, people: Sequence[dict[str, Any]], seconds: float, warm_up_s: float, talk: int) -> None:
        self._process = _launch("load_generator.py", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        order = {"people": list(people), "seconds": seconds, "warm_up_s": warm_up_s, "talk": talk}
        assert self._process.stdin
        self._process.stdin.write(f"{json.dumps(order)}\n")
        self._process.stdin.flush()

    async def line(self) -> str:
        """The next line it prints."""
        assert self._process.stdout
        return await asyncio.to_thread(self._process.stdout.readline)

    async def told(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(await self.line())
        self._process.wait()
        return told


def _launch(program: str, *arguments: str, **streams: Any) -> subprocess.Popen[str]:
    """A program of this folder, as a process."""
    return subprocess.Popen([sys.executable, FOLDER / program, *arguments], text=True, **streams)


@contextmanager
def on_cores(cores: set[int]) -> Iterator[None]:
    """What this thread starts meanwhile stays on these cores."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def processor_s(pid: int) -> float:
    """Processor time of a process, its threads and the processes it has started."""
    total = 0.0
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def resident_mb(pid: int) -> float:
    family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return float(sum(process.memory_info().rss for process in family)) / 2**20


def jobs_done(database: str) -> int:
    """How many of the jobs that follow turns are done, in the database of a server; 0 without one."""
    query = "SELECT count(*) FROM outbox WHERE status = 'done'"
    if database.startswith("postgres"):
        with psycopg.connect(database) as connection:
            return int((connection.execute(query).fetchone() or (0,))[0])
    if database:
        with closing(sqlite3.connect(database)) as file:
            return int(file.execute(query).fetchone()[0])
    return 0


async def measure(
    url: str, pid: int, souls: Sequence[str], seconds: float, talk: int = TALK, database: str = ""
) -> Measured:
    """A person for each soul."""
    round_id = os.urandom(3).hex()
    people = [{"urls": [url], "soul_id": soul_id, "name": f"{round_id}-{n}"} for n, soul_id in enumerate(souls)]
    began, waited_ms = processor_s(pid), list[float]()
    load = Load(people, seconds, WARM_UP_S, talk)
    await load.line()
    with probing(int(url.rpartition(":")[2]), waited_ms):
        before, done = processor_s(pid), jobs_done(database)
        await load.line()
        spent, jobs = processor_s(pid) - before, jobs_done(database) - done
    told = await load.told()
    await settled(database)
    whole_ms = (processor_s(pid) - began) * 1e3 / len(told["answers"])
    answers = [took * 1e3 for at, took, _ in told["answers"] if at + took > 0 and at + took <= seconds]
    refused: dict[str, int] = {}
    for reasons in told["refused"]:
        for reason, times in reasons.items():
            refused[reason] = refused.get(reason, 0) + times
    return Measured(len(answers), seconds, spent, answers, waited_ms, refused, resident_mb(pid), jobs, whole_ms)


async def settled(database: str) -> None:
    """Wait until no job is left from the load before, at most some minutes."""
    last = -1 if database else 0
    for _ in range(SETTLE_TRIES):
        done = jobs_done(database)
        if done == last:
            return
        last = done
        await asyncio.sleep(SETTLE_S)


def quantile(values: Sequence[float], share: float) -> float:
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))]


def row(name: str, sessions: int, one: Measured) -> str:
    waits = [quantile(one.turn_ms, share) for share in (0.5, 0.95, 0.99)]
    stalls = [quantile(one.probe_ms, 0.99), max(one.probe_ms)]
    cells = [name, str(sessions), f"{one.turns / one.wall_s:.1f}", f"{one.turns / one.cpu_s:.1f}"]
    cells += [f"{one.cpu_s / one.turns * 1e3:.1f}", *(f"{wait:.0f}" for wait in waits), *(f"{ms:.0f}" for ms in stalls)]
    refused = ", ".join(f"{times} × {why}" for why, times in one.refused.items()) or "none"
    cells += [f"{one.jobs / one.turns:.2f}", f"{one.whole_ms:.1f}", f"{one.memory_mb:.0f}", refused]
    return f"| {' | '.join(cells)} |"


@asynccontextmanager
async def soulgraph_server(
    model: str, folder: str, database_url: str, workers: int, cores: set[int]
) -> AsyncIterator[BenchServer]:
    voice = {"llm_base_url": model, "llm_model": "stub", "max_turns": str(2 * max(SESSIONS))}
    given = {"database_url": database_url} if database_url else {}
    server = BenchServer(workers, data_dir=folder, **voice, **given)
    with on_cores(cores):
        await server.start()
    try:
        yield server
    finally:
        server.kill()


@asynccontextmanager
async def agent_server(model: str, folder: str, cores: set[int]) -> AsyncIterator[tuple[str, int]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with on_cores(cores):
        process = _launch("agent_server.py", str(port), model, folder)
    try:
        await until_ready(url, lambda: process.poll() is None)
        yield url, process.pid
    finally:
        process.kill()
        process.wait()


async def loads(asked: argparse.Namespace, stack: ExitStack) -> None:
    first, last = {min(os.sched_getaffinity(0))}, {max(os.sched_getaffinity(0))}
    server_cores = first if asked.workers == 1 else os.sched_getaffinity(0)
    os.sched_setaffinity(0, last)
    model = stack.enter_context(stub_model(chunk_size=4096))
    schema = stack.enter_context(postgres_schema(asked.database_url)) if asked.database_url else ""
    name = f"soulgraph, {'PostgreSQL' if schema else 'SQLite'}" + f", {asked.workers} workers" * (asked.workers > 1)
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    database = schema or f"{folder}/soulgraph.db"
    measured: dict[int, list[Measured]] = {}
    async with soulgraph_server(model, folder, schema, asked.workers, server_cores) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            souls = [await new_soul(client, f"soul {n}") for n in range(max(asked.sessions))]
        for sessions in asked.sessions:
            one = await measure(server.url, server.pid, souls[:sessions], asked.seconds, asked.talk, database)
            print(row(name, sessions, one), flush=True)
            measured[sessions] = [one]
    if not asked.alone:
        async with agent_server(model, folder, first) as (url, pid):
            for sessions in [number for number in asked.sessions if number <= TARGET_SESSIONS]:
                one = await measure(url, pid, souls[:sessions], asked.seconds, min(asked.talk, TALK))
                print(row("create_agent", sessions, one), flush=True)
                measured[sessions].append(one)
    conclude(measured)


def conclude(measured: dict[int, list[Measured]]) -> None:
    for sessions, (ours, *theirs) in measured.items():
        for other in theirs:
            ratio = (ours.turns / ours.cpu_s) / (other.turns / other.cpu_s)
            print(f"\nat {sessions} sessions: {ratio:.2f} of the turns of create_agent per second of processor time")
    if TARGET_SESSIONS in measured:
        rate = measured[TARGET_SESSIONS][0].turns / measured[TARGET_SESSIONS][0].cpu_s
        met = "met" if rate >= TARGET else "MISSED"
        print(f"\ntarget, {TARGET} turns a second on one core at {TARGET_SESSIONS} sessions: {rate:.1f}, {met}")
    probes = [ms for one, *_ in measured.values() for ms in one.probe_ms]
    print(f"probes of the loop: {len(probes)}, mean {statistics.fmean(probes):.1f} ms")
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sessions", type=int, nargs="+", default=SESSIONS)
    options.add_argument("--seconds", type=float, default=20)
    options.add_argument("--talk", type=int, default=TALK, help="turns of a conversation before a new one begins")
    options.add_argument("--database-url", default="", help="by default SQLite in a folder of its own")
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--alone", action="store_true", help="without the server to compare with")
    columns = ["server", "sessions", "turns a second", "per second of CPU", "CPU ms a turn", "p50 ms", "p95", "p99"]
    columns += ["loop p99 ms", "loop longest", "jobs a turn", "CPU ms with all jobs", "MB", "refused"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    with ExitStack() as stack:
        asyncio.run(loads(options.parse_args(), stack))


if __name__ == "__main__":
    main()
