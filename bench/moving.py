"""A hundred thousand messages move in and out: how long it takes, in how much memory, and who waits meanwhile.

Run with `make bench` or `python bench/moving.py [MESSAGES [indexing]]`; it prints the table of bench/RESULTS.md. The
server is a process of its own. The chats are a zip as ChatGPT exports it, of made-up talk; PostgreSQL is where the
tests have it.
"""

import asyncio
import json
import random
import sys
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from made_up import talk

from soulgraph.tests.e2e.soul_lines import canonical
from soulgraph.tests.live import ServerProcess, new_soul
from soulgraph.tests.services import postgres_schema

MESSAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
UNTIL = sys.argv[2] if len(sys.argv) > 2 else "done"
"""`indexing`: do not wait for the vectors, which take longer than all the rest."""
IN_A_CONVERSATION = 50
PROBE_S = 0.02
Json = dict[str, Any]


def export_of_chatgpt(path: Path) -> None:
    """Each message with the metadata that a real export has; a sentence or two of each, and some long ones."""
    rng = random.Random(11)
    said = list(talk(4000))
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("conversations.json", "w", force_zip64=True) as file,
    ):
        for n in range(MESSAGES // IN_A_CONVERSATION):
            file.write(b"[" if n == 0 else b",")
            file.write(json.dumps(conversation(n, said, rng)).encode())
        file.write(b"]")


def conversation(n: int, said: list[str], rng: random.Random) -> Json:
    began = 1_600_000_000 + n * 40_000
    mapping = {}
    for m in range(IN_A_CONVERSATION):
        words = " ".join(rng.choices(said, k=rng.choice((1, 1, 2, 8))))
        author = {"role": ("user", "assistant")[m % 2], "name": None, "metadata": {}}
        message = {"id": f"{n}-{m}", "author": author, "create_time": began + m * 30.5, "update_time": None}
        message |= {"content": {"content_type": "text", "parts": [words]}, "status": "finished_successfully"}
        message |= {"metadata": {"model_slug": "gpt-4o", "timestamp_": "absolute"}, "recipient": "all", "weight": 1.0}
        parent = f"{n}-{m - 1}" if m else None
        children = [f"{n}-{m + 1}"] if m + 1 < IN_A_CONVERSATION else []
        mapping[f"{n}-{m}"] = {"id": f"{n}-{m}", "message": message, "parent": parent, "children": children}
    leaf = f"{n}-{IN_A_CONVERSATION - 1}"
    return {
        "title": f"Talk {n}",
        "create_time": began,
        "conversation_id": f"c{n}",
        "current_node": leaf,
        "mapping": mapping,
    }


@dataclass
class Run:
    """What one import has shown."""

    phases: dict[str, float] = field(default_factory=dict)
    probes: dict[str, list[float]] = field(default_factory=dict)
    messages: int = 0
    phase: str = "reading"


class Bench:
    def __init__(self, server: ServerProcess, client: httpx.AsyncClient) -> None:
        self.server = server
        self.client = client

    @property
    def memory(self) -> tuple[float, float]:
        """Megabytes that the server has now, and the most it ever had."""
        status = dict(line.split(":", 1) for line in Path(f"/proc/{self.server.pid}/status").read_text().splitlines())
        now, peak = (int(status[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))
        return now, peak

    async def bring(self, soul_id: str, file: Path, kill_at: int | None = None, until: str = "done") -> Run:
        """Import the file while the server's health is asked for; at `kill_at` messages it is killed."""
        run = Run()
        probing = asyncio.create_task(self._probe(run))
        began = time.perf_counter()
        try:
            async for event, data in self._events(soul_id, file):
                if event == "error":
                    raise SystemExit(data["detail"])
                run.phases[data.get("phase", "done")] = time.perf_counter() - began
                run.phase = data.get("phase", "done")
                run.messages = data.get("messages", 0) if event == "progress" else run.messages
                if run.phase == until:
                    break
                if kill_at and data.get("messages", 0) >= kill_at:
                    self.server.kill()
                    break
        finally:
            probing.cancel()
            await asyncio.wait({probing})
        return run

    async def _events(self, soul_id: str, file: Path) -> AsyncIterator[tuple[str, Json]]:
        path = f"/v1/souls/{soul_id}/import-chats"
        async with self.client.stream("POST", path, content=read(file), params={"filename": file.name}) as response:
            event = ""
            async for line in response.aiter_lines():
                if line.startswith("event: "):
                    event = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield event, json.loads(line.removeprefix("data: "))

    async def _probe(self, run: Run) -> None:
        async with httpx.AsyncClient(base_url=self.server.url, timeout=60) as client:
            while True:
                asked = time.perf_counter()
                await client.get("/readyz")
                run.probes.setdefault(run.phase, []).append((time.perf_counter() - asked) * 1000)
                await asyncio.sleep(PROBE_S)

    async def export(self, soul_id: str, file: Path) -> float:
        began = time.perf_counter()
        with file.open("wb") as written:
            async with self.client.stream("GET", f"/v1/souls/{soul_id}/export") as response:
                async for chunk in response.aiter_bytes():
                    written.write(chunk)
        return time.perf_counter() - began

    async def take_in(self, file: Path) -> tuple[float, Run]:
        run = Run(phase="soul import")
        probing = asyncio.create_task(self._probe(run))
        began = time.perf_counter()
        response = await self.client.post("/v1/souls/import", content=read(file))
        response.raise_for_status()
        probing.cancel()
        await asyncio.wait({probing})
        return time.perf_counter() - began, run


@asynccontextmanager
async def running(server: ServerProcess) -> AsyncIterator[Bench]:
    await server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=None) as client:
        yield Bench(server, client)


def read(file: Path) -> bytes:
    return file.read_bytes()


def told(run: Run, phase: str) -> str:
    probes = run.probes.get(phase)
    if not probes:
        return "-"
    p50, p99 = np.percentile(probes, [50, 99])
    return f"{p50:.1f}, {p99:.1f}, {max(probes):.0f} ({len(probes)})"


def lines_of(file: Path) -> list[Json]:
    lines = [json.loads(line) for line in file.read_text("utf-8").split("\n") if line]
    for line in lines:
        if line.get("table") == "chat_imports":
            line["row"]["updated_at"] = 0
    return lines


async def calm(name: str, folder: Path, chats: Path, database_url: str, until: str) -> Path:
    """An import that nobody disturbs; returns the file of its soul."""
    settings = {"data_dir": str(folder / name), "mqtt_url": "none", "database_url": database_url}
    server = ServerProcess(**settings)
    async with running(server) as bench:
        soul_id = await new_soul(bench.client, "bench", user_id="ann")
        origin = folder / f"{name}-origin.jsonl"
        await bench.export(soul_id, origin)
        before = bench.memory[0]
        run = await bench.bring(soul_id, chats, until=until)
        stored = run.phases["storing"]
        print(f"| {name}: read and stored, s; messages a second | {stored:.0f}; {MESSAGES / stored:,.0f} |")
        if until == "done":
            print(f"| then found by meaning too, s | {run.phases['done']:.0f} |")
        print(f"| memory before, most, MB | {before:.0f}, {bench.memory[1]:.0f} |")
        for phase in run.probes:
            print(f"| `/readyz` while {phase}, p50, p99, slowest ms (probes) | {told(run, phase)} |")
        file = folder / f"{name}.jsonl"
        took = await bench.export(soul_id, file)
        print(f"| export of the soul, s; its file, MB | {took:.0f}; {file.stat().st_size / 1e6:.0f} |", flush=True)
    server.stop()
    return file


async def disturbed(folder: Path, chats: Path, undisturbed: Path) -> None:
    """Killed in the middle, and once more later; then the same soul as without."""
    server = ServerProcess(data_dir=str(folder / "killed"), mqtt_url="none")
    began = time.perf_counter()
    soul_id = lines_of(folder / "SQLite-origin.jsonl")[0]["soul_id"]
    for n, kill_at in enumerate((MESSAGES // 3, MESSAGES // 3, None)):
        async with running(server) as bench:
            if n == 0:
                await bench.take_in(folder / "SQLite-origin.jsonl")
            run = await bench.bring(soul_id, chats, kill_at, "indexing")
            if kill_at is None:
                await bench.export(soul_id, folder / "killed.jsonl")
    server.stop()
    print(f"| killed twice and gone on with, all in all, s | {time.perf_counter() - began:.0f} |")
    same = canonical(lines_of(folder / "killed.jsonl")) == canonical(lines_of(undisturbed))
    print(f"| left for the last run; the same as undisturbed | {run.messages:,}; {same} |", flush=True)


async def moved(name: str, folder: Path, file: Path, database_url: str) -> None:
    settings = {"data_dir": str(folder / f"{name}-moved"), "mqtt_url": "none", "database_url": database_url}
    server = ServerProcess(**settings)
    async with running(server) as bench:
        took, run = await bench.take_in(file)
        print(f"| the soul on {name}: import, s; most memory, MB | {took:.0f}; {bench.memory[1]:.0f} |")
        print(f"| `/readyz` meanwhile, p50, p99, slowest ms (probes) | {told(run, 'soul import')} |")
        again = folder / f"{name}-again.jsonl"
        await bench.export(lines_of(file)[0]["soul_id"], again)
        print(f"| its file there is the same | {canonical(lines_of(again)) == canonical(lines_of(file))} |", flush=True)
    server.stop()


async def main() -> None:
    with tempfile.TemporaryDirectory() as named, postgres_schema() as here, postgres_schema() as there:
        folder = Path(named)
        chats = folder / "chatgpt.zip"
        export_of_chatgpt(chats)
        size = chats.stat().st_size / 1e6
        print(f"| {MESSAGES:,} messages in {MESSAGES // IN_A_CONVERSATION:,} conversations; the zip, MB | {size:.0f} |")
        sqlite = await calm("SQLite", folder, chats, "", UNTIL)
        await disturbed(folder, chats, sqlite)
        postgres = await calm("PostgreSQL", folder, chats, here, "indexing")
        await moved("PostgreSQL", folder, sqlite, there)
        await moved("SQLite", folder, postgres, "")


if __name__ == "__main__":
    asyncio.run(main())
