"""How long a server under attack takes to say that it is well: what it does about the attack must not stop the rest.

Run with `python bench/stalls.py [--attack crowd …]`; it prints the table of bench/RESULTS.md. The server is a process
of its own, as users start it, and so is the one that asks `/healthz` every 20 ms (`bench/probe.py`).
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from soulgraph.tests.attacks import ATTACKS, Attack, Attacked, nothing
from soulgraph.tests.live import ServerProcess, free_port
from soulgraph.tests.stub_openai import StubOpenAI

PROBE = Path(__file__).parent / "probe.py"
MAX_P99_MS = 100


@contextmanager
def probing(port: int, waited_ms: list[float]) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, PROBE, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdout.readline()
    try:
        yield
    finally:
        told, _ = process.communicate()
        waited_ms += json.loads(told)


@asynccontextmanager
async def attacked_server(folder: Path, stub: StubOpenAI) -> AsyncIterator[tuple[Attacked, ServerProcess]]:
    mqtt = {"mqtt_port": str(free_port()), "mqtt_websocket_port": "0"}
    llm = {"llm_base_url": stub.base_url, "llm_model": "stub"}
    server = ServerProcess(data_dir=str(folder), log_level="error", **mqtt, **llm)
    await server.start()
    try:
        yield Attacked(server.url, folder, int(mqtt["mqtt_port"]), stub), server
    finally:
        server.kill()


async def measure(name: str, attack: Attack) -> dict[str, float | str]:
    """A server for each attack, so that none pays for the one before."""
    waited_ms: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        async with StubOpenAI() as stub, attacked_server(Path(folder), stub) as (attacked, server):
            async with attacked.client():
                await asyncio.sleep(1)
            with probing(server.port, waited_ms):
                began = time.monotonic()
                await attack(attacked)
            took_s = time.monotonic() - began
            peak_mb = _peak_mb(server.pid)
    ranked = sorted(waited_ms)
    at = lambda share: ranked[min(len(ranked) - 1, int(len(ranked) * share))]  # noqa: E731
    return {
        "attack": name,
        "probes": len(ranked),
        "s": took_s,
        "p50": at(0.5),
        "p99": at(0.99),
        "max": ranked[-1],
        "peak": peak_mb,
    }


def _peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text("utf-8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))


async def main(names: list[str]) -> int:
    print("| attack | probes | took | p50 | p99 | longest | most memory |\n|---|---|---|---|---|---|---|")
    late = []
    for name in names:
        row = await measure(name, ATTACKS.get(name, nothing))
        print(
            f"| {name} | {row['probes']} | {row['s']:.1f} s | {row['p50']:.1f} ms | {row['p99']:.1f} ms | "
            f"{row['max']:.0f} ms | {row['peak']:.0f} MB |",
            flush=True,
        )
        late += [name] if float(row["p99"]) > MAX_P99_MS else []
    print(f"p99 above {MAX_P99_MS} ms: {', '.join(late) or 'none'}; load of the machine: {os.getloadavg()[0]:.1f}")
    return bool(late)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--attack", nargs="+", default=["nothing", *ATTACKS], choices=["nothing", *ATTACKS])
    sys.exit(asyncio.run(main(options.parse_args().attack)))
