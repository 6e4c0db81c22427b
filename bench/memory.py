"""What thousands of turns add to the memory of a server: 60 conversations of 6 souls, by HTTP, with a stub model.

Run with `python bench/memory.py [--turns 6000]`; it prints the table of bench/RESULTS.md. The server is a process of
its own, as users start it, and so is the model. Growth is counted from when everything has been used once, the library
of events with it. RSS and USS have mapped files in them, which the kernel may drop (USS those that no other process has
mapped); anonymous memory has not.
"""

import argparse
import asyncio
import tempfile
import time
from itertools import count
from pathlib import Path

import httpx

from soulgraph.bench.made_up import talk
from soulgraph.bench.startup import memory_mb
from soulgraph.bench.turn import stub_model
from soulgraph.tests.live import ServerProcess, new_soul, say

WARM_UP, STEP = 500, 1000
SOULS, SESSIONS = 6, 60
AT_ONCE = 2
MAX_GROWTH_MB = 30


async def have_turns(client: httpx.AsyncClient, souls: list[str], said: list[str]) -> None:
    """Each conversation belongs to one soul; a few turns run at once, in different conversations."""
    numbers = count()
    waiting = iter(said)

    async def keep_talking() -> None:
        for text in waiting:
            number = next(numbers) % SESSIONS
            await say(client, text, soul_id=souls[number % SOULS], session_id=f"s{number}", user_id=f"u{number % 3}")

    await asyncio.gather(*(keep_talking() for _ in range(AT_ONCE)))


async def measure(turns: int, folder: str, base_url: str) -> dict[int, dict[str, float]]:
    server = ServerProcess(data_dir=folder, llm_base_url=base_url, llm_model="stub", log_level="error", mqtt_url="none")
    await server.start()
    measured = {}
    said = [*talk(WARM_UP + turns)]
    try:
        async with httpx.AsyncClient(base_url=server.url, timeout=60, verify=False) as client:
            souls = [await new_soul(client, f"soul {n}", user_id="u0") for n in range(SOULS)]
            measured[0] = await settled_memory(server.pid)
            print(f"| 0 | {row(measured[0])} | |", flush=True)
            done = 0
            for until in (WARM_UP, *range(WARM_UP + STEP, WARM_UP + turns + 1, STEP)):
                began = time.monotonic()
                await have_turns(client, souls, said[done:until])
                done = until
                measured[done] = await settled_memory(server.pid)
                print(f"| {done} | {row(measured[done])} | {time.monotonic() - began:.0f} s |", flush=True)
    finally:
        server.stop()
    return measured


async def settled_memory(pid: int) -> dict[str, float]:
    await asyncio.sleep(5)  # what the turns have left to be done
    memory = memory_mb(pid)
    return memory | {"Uss": memory["Private_Clean"] + memory["Private_Dirty"]}


def row(memory: dict[str, float]) -> str:
    return " | ".join(f"{memory[kind]:.1f}" for kind in ("Rss", "Uss", "Pss", "Anonymous"))


async def main(turns: int) -> None:
    print("| turns | RSS MB | USS MB | PSS MB | anonymous MB | took |\n|---|---|---|---|---|---|")
    with stub_model(chunk_size=4096) as base_url, tempfile.TemporaryDirectory() as folder:
        measured = await measure(turns, str(Path(folder)), base_url)
    last = measured[max(measured)]
    grown, in_all = ({kind: last[kind] - measured[n][kind] for kind in ("Rss", "Anonymous")} for n in (WARM_UP, 0))
    print(
        f"\n{turns} turns after the first {WARM_UP} add {grown['Rss']:.1f} MB of RSS (at most {MAX_GROWTH_MB} is well) "
        f"and {grown['Anonymous']:.1f} anonymous; with the first {in_all['Rss']:.1f} and {in_all['Anonymous']:.1f}"
    )


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=int, default=6000, help="a multiple of 1000")
    asyncio.run(main(options.parse_args().turns))
