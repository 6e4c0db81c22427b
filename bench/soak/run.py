"""Two servers on one PostgreSQL, for an hour of trouble, while people talk to their souls; then everything is counted.

    python -m soulgraph.bench.soak.run [--minutes 60] [--people 6] [--seed 1] [--database-url postgresql://…]

Servers are killed, the database and the broker go away, the clock jumps, and the model is in every mood. What must hold
is in `checks.py`; it is looked at every minute, and once more when all have calmed down.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
from sqlalchemy import make_url

from soulgraph.bench.reminders import SharedClock
from soulgraph.bench.soak import checks
from soulgraph.bench.soak.model import HANGS_S, MoodyModel
from soulgraph.bench.soak.people import Ledger, Person, speak_from_terminal
from soulgraph.bench.soak.services import Line, RunningClock, Server
from soulgraph.tests import services
from soulgraph.tests.household import Secrets
from soulgraph.tests.memory.chroma import chroma_server
from soulgraph.tests.terminals.brokers import Mosquitto

NAMES = ("ann", "bob", "小林", "dora", "emil", "fay", "gus", "小雨")
CHECK_S = 60.0
MAX_MEMORY_MB = 1200
PERSONA = "life: {min_interval_minutes: 20, max_interval_minutes: 60, quiet_hours: '', daily_cap: 30}"


@dataclass
class House:
    url: str
    """The database, past the line."""
    servers: list[Server]
    line: Line
    broker: Mosquitto
    clock: RunningClock
    model: MoodyModel
    people: list[Person]
    ledger: Ledger
    random: Random
    owner: dict[str, str]
    troubles: Counter[str] = field(default_factory=Counter)

    def trouble(self) -> Callable[[], Awaitable[None]]:
        kinds = {
            self.kill_server: 6,
            self.stop_server: 1,
            self.cut_database: 3,
            self.silence_database: 1,
            self.end_backends: 2,
            self.restart_broker: 2,
            self.clock_forward: 3,
            self.clock_back: 2,
            self.model_away: 2,
        }
        return self.random.choices([*kinds], [*kinds.values()])[0]

    async def kill_server(self) -> None:
        victim = self.random.choice(self.servers)
        victim.kill()
        await asyncio.sleep(self.random.uniform(0, 3))
        await victim.start()

    async def stop_server(self) -> None:
        victim = self.random.choice(self.servers)
        await asyncio.to_thread(victim.stop)
        await victim.start()

    async def cut_database(self) -> None:
        self.line.cut()
        await asyncio.sleep(self.random.uniform(0.5, 6))
        self.line.mend()

    async def silence_database(self) -> None:
        self.line.silence()
        await asyncio.sleep(self.random.uniform(1, 5))
        self.line.mend()

    async def end_backends(self) -> None:
        await asyncio.to_thread(services.end_connections, self.url)

    async def restart_broker(self) -> None:
        self.broker.kill()
        await asyncio.sleep(self.random.uniform(0.5, 4))
        await self.broker.start()

    async def clock_forward(self) -> None:
        self.clock.jump(self.random.choice((30, 300, 1800, 7200)))

    async def clock_back(self) -> None:
        self.clock.jump(-self.random.choice((5, 60, 600, 3600)))

    async def model_away(self) -> None:
        self.model.away = True
        await asyncio.sleep(self.random.uniform(1, 5))
        self.model.away = False


@asynccontextmanager
async def open_house(folder: Path, database_url: str, people: int, seed: int) -> AsyncIterator[House]:
    random = Random(seed)
    secrets = Secrets(random)
    (folder / "persona.yaml").write_text(PERSONA)
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(MoodyModel(secrets, random))
        where = make_url(database_url)
        line = await stack.enter_async_context(Line(where.host or "127.0.0.1", where.port or 5432).running())
        through = where.set(host="127.0.0.1", port=line.local_port).render_as_string(hide_password=False)
        clock = await stack.enter_async_context(RunningClock(SharedClock(folder / "clock")).running())
        broker = Mosquitto(folder)
        await broker.start()
        stack.callback(broker.kill)
        settings = {
            "database_url": through.replace("+", "%20"),
            "mqtt_url": broker.url,
            "chroma_url": stack.enter_context(chroma_server(folder / "chroma")),
            "llm_base_url": model.base_url,
            "llm_model": "stub",
            "llm_timeout_s": HANGS_S - 4,
            "timezone": "UTC",
            "job_lease_s": 5,
            "persona_config": folder / "persona.yaml",
            "shutdown_grace_s": 10,
            "log_level": "warning",
        }
        servers = [Server(name, folder, **settings) for name in ("first", "second")]
        for server in servers:
            await server.start()
            stack.callback(server.kill)
        house = House(database_url, servers, line, broker, clock, model, [], Ledger(), random, {})
        await _settle_in(house, secrets, NAMES[:people])
        yield house


async def _settle_in(house: House, secrets: Secrets, names: tuple[str, ...]) -> None:
    """Souls, a key for everybody, groups, and a terminal for the first two."""
    async with httpx.AsyncClient(base_url=house.servers[0].url, timeout=60, verify=False) as client:

        async def make(path: str, **body: Any) -> Any:
            made = await client.post(path, json=body, headers=house.owner)
            made.raise_for_status()
            return made.json()

        def bearer(made: Any) -> dict[str, str]:
            return {"Authorization": f"Bearer {made['secret']}"}

        souls = [
            (await make("/v1/souls", name=f"soul {n}", mbti_type="ENFP", user_id="house"))["soul_id"] for n in range(3)
        ]
        house.owner = bearer(await make("/v1/keys", name="owner", scope="owner"))
        groups = {}
        for members in (names[:2], names[1:4]):
            body = {"soul_id": souls[0], "user_id": members[0], "people": members[1:], "souls": souls[1:2]}
            groups[(await make("/v1/sessions", **body))["session_id"]] = members
        for n, name in enumerate(names):
            key = bearer(await make("/v1/keys", name=name, scope="chat", user_id=name))
            chance = Random(f"{n} {house.random.random()}")
            house.people.append(Person(name, key, house.servers, souls, groups, secrets, house.ledger, chance))
        for name in names[:2]:
            await make(
                "/v1/souls/select", terminal_id=f"lamp-{len(name)}-{ord(name[0])}", soul_id=souls[2], user_id=name
            )
    house.model.audiences = [*((name,) for name in names), *groups.values()]


async def live(house: House, minutes: float) -> None:
    """Everybody talks while trouble comes, until the time is over; then all is calm."""
    ends = asyncio.Event()
    deadline = time.monotonic() + minutes * 60
    listening = [asyncio.create_task(one.listen(soul_id)) for one in house.people for soul_id in one.souls]
    talking = [asyncio.create_task(one.live(ends)) for one in house.people]
    for one in house.people[:2]:
        terminal = f"lamp-{len(one.name)}-{ord(one.name[0])}"
        talking.append(asyncio.create_task(speak_from_terminal(one, house.broker.url, terminal, ends)))
    try:
        house.model.calm = False
        await _make_trouble(house, deadline)
        await calm_down(house)
        ends.set()
        await asyncio.gather(*talking)
        await finish(house)
    finally:
        for task in (*listening, *talking):
            task.cancel()
        await asyncio.gather(*listening, *talking, return_exceptions=True)


async def _make_trouble(house: House, deadline: float) -> None:
    checked_at = time.monotonic()
    while time.monotonic() < deadline:
        await asyncio.sleep(house.random.uniform(3, 12))
        trouble = house.trouble()
        house.troubles[trouble.__name__.replace("_", " ")] += 1
        await trouble()
        memory = [server.memory_mb() for server in house.servers]
        if time.monotonic() - checked_at > CHECK_S:
            checked_at = time.monotonic()
            await check(house, checks.running)
            left = max(0.0, deadline - time.monotonic()) / 60
            turns = house.ledger.counts["turns"] + house.ledger.counts["turns of terminals"]
            _print(
                f"{left:5.1f} min left: {turns} turns, {sum(house.troubles.values())} troubles, {memory[0]:.0f} and {memory[1]:.0f} MB, {len(house.ledger.wrong)} wrong"
            )


async def calm_down(house: House) -> None:
    house.line.mend()
    house.model.calm = True
    house.model.away = False
    house.clock.jump(max(0.0, house.clock.latest - house.clock.now) + 60)
    for server in house.servers:
        await server.start()


async def finish(house: House) -> None:
    """The clock goes on until every reminder is due and every job was tried again; then a last turn for everybody."""
    for _ in range(40):
        house.clock.jump(600)
        await asyncio.sleep(3)
        stored = await asyncio.to_thread(checks.read, house.url)
        if house.clock.now > house.clock.latest - 1 and not checks.settled(stored, house.ledger):
            break
    for person in house.people:
        async with person._client() as client:
            for soul_id in person.souls:
                await person.say(client, person._words(), (), soul_id=soul_id)
    for _ in range(60):
        house.clock.jump(60)
        await asyncio.sleep(1)
        stored = await asyncio.to_thread(checks.read, house.url)
        if all(job.status == "done" for job in stored.jobs):
            break
    await check(house, checks.settled)


async def check(house: House, holds: Callable[[checks.Stored, Ledger], list[str]]) -> None:
    """What was wrong before stays in the ledger once."""
    said = list(house.ledger.said)  # before the database is read: what is said meanwhile is for the next time
    stored = await asyncio.to_thread(checks.read, house.url)
    now = Ledger(said, house.ledger.given_up, dict(house.ledger.reminders))
    wrong = await asyncio.to_thread(holds, stored, now)
    wrong += house.model.leaks
    wrong += [
        f"{one.url} took {one.most_memory_mb:.0f} MB" for one in house.servers if one.most_memory_mb > MAX_MEMORY_MB
    ]
    house.ledger.wrong += [one for one in dict.fromkeys(wrong) if one not in house.ledger.wrong]


def _print(text: str) -> None:
    print(text, flush=True)


def report(house: House, minutes: float) -> None:
    ledger = house.ledger
    rows = {
        "turns": ledger.counts.pop("turns", 0),
        "turns of terminals": ledger.counts.pop("turns of terminals", 0),
        "acknowledged inputs": len(ledger.said),
        "given up": len(ledger.given_up),
        "reminders": len(ledger.reminders),
        "heard of their own accord": len(ledger.heard),
        **{f"trouble: {name}": count for name, count in sorted(house.troubles.items())},
        **{f"model: {name}": count for name, count in sorted(house.model.moods.items())},
        **dict(sorted(ledger.counts.items())),
        **{
            f"{one.log.stem}: starts, most memory": f"{one.starts}, {one.most_memory_mb:.0f} MB"
            for one in house.servers
        },
        "wrong": len(ledger.wrong),
    }
    _print(f"\n| {minutes:g} minutes | |\n|---|---|")
    for name, value in rows.items():
        _print(f"| {name} | {value} |")
    for one in ledger.wrong[:50]:
        _print(f"WRONG {one}")
    for server in house.servers:
        text = server.log.read_text("utf-8", "replace") if server.log.exists() else ""
        _print(f"{server.log.stem}: {text.count('Traceback')} tracebacks in its log")


async def main(asked: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as made, services.postgres_schema() as url:
        folder = Path(asked.folder or made)
        async with open_house(folder, asked.database_url or url, asked.people, asked.seed) as house:
            try:
                await live(house, asked.minutes)
                stored = await asyncio.to_thread(checks.read, house.url)
                house.ledger.wrong += await checks.checkpoints(house.url, stored)
            finally:
                report(house, asked.minutes)
        return bool(house.ledger.wrong)


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--people", type=int, default=6)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--folder", default="", help="where logs stay; by default a folder that is gone in the end")
    options.add_argument(
        "--database-url", default="", help="by default a schema of its own in the database of the tests"
    )
    os.nice(10)
    sys.exit(asyncio.run(main(options.parse_args())))
