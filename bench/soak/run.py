"""Two servers on one PostgreSQL, for an hour of trouble, while people talk to their souls; then everything is counted.

    python -m soulgraph.bench.soak.run --database-url postgresql://… [--minutes 60] [--people 6] [--seed 1]

Servers are killed, the database and the broker go away, the clock jumps, and the model is in every mood. What must hold
is in `checks.py`; it is looked at every minute, and once more when all have calmed down.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg

from soulgraph.bench.soak import checks
from soulgraph.bench.soak.house import House, open_house
from soulgraph.bench.soak.ledger import Ledger
from soulgraph.bench.soak.report import progress, say, table
from soulgraph.bench.soak.stored import Stored, read
from soulgraph.bench.soak.terminals import speak_from_terminal
from soulgraph.bench.soak.troubles import TO_SERVERS, TO_THEIR_NEEDS, calm_down, make_trouble
from soulgraph.tests.services import postgres_schema

CHECK_S = 60.0
MAX_MEMORY_MB = 1200


async def live(house: House, minutes: float) -> None:
    """Everybody talks and listens while trouble comes; then it is calm, and what is left is done."""
    async with asyncio.TaskGroup() as group:
        listening = [group.create_task(one.listen(soul_id)) for one in house.people for soul_id in one.souls]
        await _talk(house, minutes)
        await finish(house)
        for task in listening:
            task.cancel()


async def _talk(house: House, minutes: float) -> None:
    ends = asyncio.Event()
    deadline = time.monotonic() + minutes * 60
    async with asyncio.TaskGroup() as talking:
        for person in house.people:
            talking.create_task(person.live(ends))
        for person in house.with_terminals:
            talking.create_task(speak_from_terminal(person, house.broker.url, ends))
        house.model.calm = False
        async with asyncio.TaskGroup() as trouble:
            trouble.create_task(make_trouble(house, TO_SERVERS, deadline))
            trouble.create_task(make_trouble(house, TO_THEIR_NEEDS, deadline))
            trouble.create_task(_watch(house, deadline))
        await calm_down(house)
        ends.set()


async def _watch(house: House, deadline: float) -> None:
    while (left_s := deadline - time.monotonic()) > 0:
        await asyncio.sleep(min(CHECK_S, left_s))
        with suppress(psycopg.OperationalError):  # trouble may end the connection of who looks, too
            await check(house, checks.running)
        say(progress(house, deadline - time.monotonic()))


async def finish(house: House) -> None:
    """The clock goes on until every reminder is due and every job was tried again; then a last turn for everybody."""
    await _until_done(house, step_s=600)
    for person in house.people:
        async with person.client() as client:
            for soul_id in person.souls:
                await person.say(client, person.words(), soul_id=soul_id)
    await _until_done(house, step_s=60)
    for person in house.people:
        await person.look_back()
    await check(house, checks.settled)


async def _until_done(house: House, step_s: float, steps: int = 40) -> None:
    for _ in range(steps):
        house.clock.jump(step_s)
        await asyncio.sleep(3)
        stored = await asyncio.to_thread(read, house.url)
        if not await asyncio.to_thread(checks.pending, stored, house.ledger.snapshot()):
            break


async def check(house: House, flaws_of: Callable[[Stored, Ledger], list[str]]) -> Stored:
    ledger = house.ledger.snapshot()
    stored = await asyncio.to_thread(read, house.url)
    flaws = await asyncio.to_thread(flaws_of, stored, ledger)
    flaws += house.model.leaks
    for server in house.servers:
        server.memory_mb()
        if server.most_memory_mb > MAX_MEMORY_MB:
            flaws.append(f"{server.url} took {server.most_memory_mb:.0f} MB")
    for flaw in house.ledger.complain(flaws):
        say(f"WRONG {flaw}")
    return stored


async def main(asked: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as made, postgres_schema(asked.database_url) as url:
        async with open_house(Path(asked.folder or made), url, asked.people, asked.seed) as house:
            try:
                await live(house, asked.minutes)
            finally:
                say(table(house, asked.minutes))
        return bool(house.ledger.wrong)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--database-url", required=True, help="a PostgreSQL, in which a schema of its own is made")
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--people", type=int, default=6)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--folder", default="", help="one that exists, where logs stay; else they are gone in the end")
    os.nice(10)
    sys.exit(asyncio.run(main(options.parse_args())))
