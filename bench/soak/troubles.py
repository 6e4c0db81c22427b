"""What happens to a house. Two kinds come at once: something to the servers, and something to what they need."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

from soulgraph.bench.soak.house import House
from soulgraph.tests.services import end_connections

Trouble = Callable[[House], Awaitable[None]]
PAUSE_S = (3, 15)


async def make_trouble(house: House, kinds: Mapping[Trouble, int], deadline: float) -> None:
    """One after the other, as often as they weigh."""
    while time.monotonic() < deadline:
        await asyncio.sleep(house.random.uniform(*PAUSE_S))
        [trouble] = house.random.choices([*kinds], [*kinds.values()])
        house.troubles[trouble.__name__.replace("_", " ")] += 1
        await trouble(house)


async def calm_down(house: House) -> None:
    house.line.mend()
    house.model.calm = True
    house.model.away = False
    house.clock.jump(max(0.0, house.clock.latest - house.clock.now) + 60)
    for server in house.servers:
        await server.start()


async def kill_server(house: House) -> None:
    victim = house.random.choice(house.servers)
    victim.kill()
    await asyncio.sleep(house.random.uniform(0, 3))
    await victim.start()


async def stop_server(house: House) -> None:
    victim = house.random.choice(house.servers)
    await asyncio.to_thread(victim.stop)
    await victim.start()


async def cut_database(house: House) -> None:
    house.line.cut()
    await asyncio.sleep(house.random.uniform(0.5, 6))
    house.line.mend()


async def silence_database(house: House) -> None:
    house.line.silence()
    await asyncio.sleep(house.random.uniform(1, 5))
    house.line.mend()


async def end_database_connections(house: House) -> None:
    await asyncio.to_thread(end_connections, house.url)


async def restart_broker(house: House) -> None:
    house.broker.kill()
    await asyncio.sleep(house.random.uniform(0.5, 4))
    await house.broker.start()


async def clock_forward(house: House) -> None:
    house.clock.jump(house.random.choice((30, 300, 1800, 7200)))


async def clock_back(house: House) -> None:
    house.clock.jump(-house.random.choice((5, 60, 600, 3600)))


async def model_away(house: House) -> None:
    house.model.away = True
    await asyncio.sleep(house.random.uniform(1, 5))
    house.model.away = False


TO_SERVERS: dict[Trouble, int] = {kill_server: 6, stop_server: 1}
TO_THEIR_NEEDS: dict[Trouble, int] = {
    cut_database: 3,
    silence_database: 1,
    end_database_connections: 2,
    restart_broker: 2,
    clock_forward: 3,
    clock_back: 2,
    model_away: 2,
}
