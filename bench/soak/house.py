"""Two servers with all they need, and the people who talk to them."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
from sqlalchemy import make_url

from soulgraph.bench.reminders import SharedClock
from soulgraph.bench.soak.ledger import Ledger
from soulgraph.bench.soak.model import HANGS_S, MoodyModel
from soulgraph.bench.soak.people import Person
from soulgraph.bench.soak.services import Line, RunningClock, Server
from soulgraph.bench.soak.terminals import terminal_of
from soulgraph.tests.household import Secrets
from soulgraph.tests.memory.chroma import chroma_server
from soulgraph.tests.terminals.brokers import Mosquitto

NAMES = ("ann", "bob", "小林", "dora", "emil", "fay", "gus", "小雨")
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
    ledger: Ledger
    random: Random
    people: list[Person] = field(default_factory=list)
    troubles: Counter[str] = field(default_factory=Counter)

    @property
    def with_terminals(self) -> list[Person]:
        return self.people[:2]


@asynccontextmanager
async def open_house(folder: Path, database_url: str, people: int, seed: int) -> AsyncIterator[House]:
    random = Random(seed)
    ledger = Ledger(Secrets(random))
    where = make_url(database_url)
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(MoodyModel(ledger.secrets, random))
        line = await stack.enter_async_context(Line(where.host or "127.0.0.1", where.port or 5432).running())
        clock = await stack.enter_async_context(RunningClock(SharedClock(folder / "clock")).running())
        broker = Mosquitto(folder)
        await broker.start()
        stack.callback(broker.kill)
        chroma_url = stack.enter_context(chroma_server(folder / "chroma"))
        through = where.set(host="127.0.0.1", port=line.local_port).render_as_string(hide_password=False)
        settings = _settings(folder, through.replace("+", "%20"), broker.url, chroma_url, model.base_url)
        servers = [Server(name, folder, **settings) for name in ("first", "second")]
        for server in servers:
            await server.start()
            stack.callback(server.kill)
        house = House(database_url, servers, line, broker, clock, model, ledger, random)
        await _move_in(house, NAMES[:people])
        yield house


def _settings(folder: Path, database_url: str, mqtt_url: str, chroma_url: str, model_url: str) -> dict[str, Any]:
    persona = folder / "persona.yaml"
    persona.write_text(PERSONA)
    return {
        "database_url": database_url,
        "mqtt_url": mqtt_url,
        "chroma_url": chroma_url,
        "llm_base_url": model_url,
        "llm_model": "stub",
        "llm_timeout_s": HANGS_S - 4,
        "timezone": "UTC",
        "job_lease_s": 5,
        "persona_config": persona,
        "shutdown_grace_s": 10,
        "log_level": "warning",
    }


@dataclass
class _Owner:
    """Makes what the people of a house need; the first key that is made is its own."""

    client: httpx.AsyncClient
    key: dict[str, str] = field(default_factory=dict)

    async def make(self, path: str, **body: Any) -> Any:
        made = await self.client.post(path, json=body, headers=self.key)
        made.raise_for_status()
        return made.json()

    async def make_key(self, name: str, scope: str, **more: str) -> dict[str, str]:
        made = await self.make("/v1/keys", name=name, scope=scope, **more)
        return {"Authorization": f"Bearer {made['secret']}"}

    async def make_soul(self, name: str) -> str:
        return str((await self.make("/v1/souls", name=name, mbti_type="ENFP", user_id="house"))["soul_id"])

    async def make_group(self, souls: Sequence[str], people: Sequence[str]) -> str:
        members = {"user_id": people[0], "people": people[1:], "soul_id": souls[0], "souls": souls[1:]}
        return str((await self.make("/v1/sessions", **members))["session_id"])


async def _move_in(house: House, names: Sequence[str]) -> None:
    """Souls, a key for everybody, two groups, and a terminal for the first two."""
    async with httpx.AsyncClient(base_url=house.servers[0].url, timeout=60, verify=False) as client:
        owner = _Owner(client)
        souls = [await owner.make_soul(f"soul {n}") for n in range(3)]
        owner.key = await owner.make_key("owner", "owner")
        groups = {await owner.make_group(souls[:2], members): members for members in (names[:2], names[1:4])}
        for name in names:
            key = await owner.make_key(name, "chat", user_id=name)
            own = Random(f"{name} {house.random.random()}")
            house.people.append(Person(name, key, house.servers, souls, groups, house.ledger, own))
        for person in house.with_terminals:
            terminal = {"terminal_id": terminal_of(person), "soul_id": souls[2], "user_id": person.name}
            await owner.make("/v1/souls/select", **terminal)
    house.model.audiences = [*((name,) for name in names), *groups.values()]
