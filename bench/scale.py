"""How far it scales: ticks of up to 100,000 souls, two groups of two servers of which one is killed, and unit costs.

    python bench/scale.py [--ticks] [--groups] [--costs] [--souls 1000 10000 100000] [--servers 2] [--seconds 30]

Without a choice all three are run. For a quick look: `--ticks --souls 2000 --seconds 10`. Everything happens in schemas
of its own on a real PostgreSQL (`--database-url`), which are gone afterwards; commits do not wait for the disk. It
prints the tables of docs/scaling.md. The servers, the database and the load share the machine, so the processor time of
each is the figure that holds elsewhere; seconds of the wall are those of this machine.
"""

import argparse
import asyncio
import os
import sys
import tempfile

import httpx

from soulgraph.bench import scale_costs, scale_groups, scale_ticks
from soulgraph.bench.load import BenchServer, Load, quantile
from soulgraph.bench.scale_ticks import populate, rounds
from soulgraph.bench.turn import stub_model
from soulgraph.tests.live import new_soul
from soulgraph.tests.services import POSTGRES_URL, postgres_schema

PERIOD_S = 3.0
SOULS = (1_000, 10_000, 100_000)


async def ticks(asked: argparse.Namespace) -> None:
    print(f"| {' | '.join(scale_ticks.HEAD)} |\n|{'---|' * len(scale_ticks.HEAD)}", flush=True)
    for souls in asked.souls:
        with postgres_schema(asked.database_url) as url:
            await populate(url, souls)
            told, share = await rounds(url, souls, asked.servers, asked.period, asked.seconds)
        print(scale_ticks.row(souls, told, share, asked.period), flush=True)
        fits = scale_ticks.capacity(told, asked.period)
        print(f"  … by processor time one core would tick {fits:,.0f} souls a period", file=sys.stderr)


async def turns_during_ticks(asked: argparse.Namespace) -> None:
    """What somebody who talks waits, while a real server ticks these souls, and while it has none to tick."""
    print("\n| a turn over HTTP, one server | p50 ms | p95 | longest |\n|---|---|---|---|", flush=True)
    with stub_model(chunk_size=4096) as model:
        for souls in (0, *[number for number in asked.souls if number <= asked.turns_up_to]):
            waits = await _waits(asked, model, souls)
            cells = " | ".join(f"{quantile(waits, share):.0f}" for share in (0.5, 0.95, 1.0))
            print(f"| {souls:,} souls awake | {cells} |", flush=True)


async def _waits(asked: argparse.Namespace, model: str, souls: int) -> list[float]:
    voice = {"llm_base_url": model, "llm_model": "stub", "tick_s": f"{asked.period:g}"}
    with postgres_schema(asked.database_url) as url, tempfile.TemporaryDirectory() as home:
        if souls:
            await populate(url, souls)
            scale_ticks.stay_awake(url, asked.seconds + 60)
        server = BenchServer(data_dir=home, database_url=url, **voice)
        await server.start()
        try:
            async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
                soul_id = await new_soul(client)
            talker = {"urls": [server.url], "soul_id": soul_id, "name": "talker"}
            load = Load([talker], asked.seconds, 2 * asked.period, 10)
            await load.line()
            await load.line()
            answers = (await load.told())["answers"]
        finally:
            server.kill()
    return [took * 1e3 for at, took, _ in answers if at > 0]


async def run(asked: argparse.Namespace) -> int:
    every = not (asked.ticks or asked.groups or asked.costs)
    wrong = 0
    if asked.ticks or every:
        await ticks(asked)
        await turns_during_ticks(asked)
    if asked.groups or every:
        print("\nTwo groups of two servers\n", flush=True)
        wrong = await scale_groups.simulate(asked.database_url, asked.sessions, asked.seconds)
    if asked.costs or every:
        print(flush=True)
        await scale_costs.show(asked.database_url)
    print(f"\nload of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return wrong


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for part in ("ticks", "groups", "costs"):
        options.add_argument(f"--{part}", action="store_true")
    options.add_argument("--souls", type=int, nargs="+", default=SOULS)
    options.add_argument("--servers", type=int, default=2)
    options.add_argument("--period", type=float, default=PERIOD_S, help="as SOULGRAPH_TICK_S")
    options.add_argument("--seconds", type=float, default=30)
    options.add_argument("--sessions", type=int, default=16, help="people who talk at the groups")
    options.add_argument("--turns-up-to", type=int, default=10_000, help="most souls that are awake during turns")
    options.add_argument("--database-url", default=POSTGRES_URL)
    return bool(asyncio.run(run(options.parse_args())))


if __name__ == "__main__":
    sys.exit(main())
