"""Two thousand terminals that are online, on Mosquitto: what a tick costs, and what it costs the turns.

Run with `make bench` or `python bench/terminals.py`; it prints the tables of bench/RESULTS.md. The server is a process
of its own, and so are the terminals, a hundred to a connection; each sends its heartbeat every ten seconds.
"""

import asyncio
import json
import multiprocessing
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiomqtt
import httpx
import uvloop

from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.ports import open_stores
from soulgraph.server import open_services
from soulgraph.settings import Settings
from soulgraph.stores.factories import new_soul
from soulgraph.tests.live import ServerProcess, free_port, say

TERMINALS, CONNECTIONS, PERIOD_S, HEARTBEAT_S = 2000, 20, 3.0, 10.0
WINDOW_S, SETTLE_S, TURNS, ROUNDS, WARM_UP = 30.0, 15.0, 100, 3, 10
CORE, SLOWER = 0.5, 1.3
SAYING = "I went for a walk by the river today and it rained a little."
CONFIG = """listener {port} 127.0.0.1
allow_anonymous true
max_queued_messages 0
"""


@contextmanager
def mosquitto(folder: Path) -> Iterator[int]:
    port, config = free_port(), folder / "mosquitto.conf"
    config.write_text(CONFIG.format(port=port))
    program = shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
    process = subprocess.Popen([program, "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    try:
        yield port
    finally:
        process.kill()
        process.wait()


async def populate(folder: Path) -> None:
    """A soul in every terminal."""
    async with open_stores(Settings(data_dir=folder, _env_file=None)) as stores, stores.write() as tx:
        for n in range(TERMINALS):
            born = {"name": f"soul {n}", "mbti_type": "INFJ", "user_id": "u", "character_id": None}
            soul = await new_soul(tx, **born, now=time.time())
            await tx.souls.add(soul)
            await tx.terminals.bind(f"terminal-{n}", soul.soul_id, 0.0)


class Terminals:
    """They write down how old each emotion update was when it came."""

    def __init__(self) -> None:
        self.ages: list[float] = []
        self._online = False
        self._clients: list[aiomqtt.Client] = []

    async def live(self, port: int, orders: Connection) -> None:
        """Until the order to end comes; `be` and `ages` are the others."""
        async with AsyncExitStack() as stack:
            for _ in range(CONNECTIONS):
                self._clients.append(await stack.enter_async_context(aiomqtt.Client("127.0.0.1", port)))
            for n in range(TERMINALS):
                await self._client(n).subscribe(f"soul/terminal/terminal-{n}/emotion_update", qos=1)
            for task in [*map(self._listen, self._clients), self._beat()]:
                stack.callback(asyncio.create_task(task).cancel)
            orders.send(None)
            while (order := await asyncio.to_thread(orders.recv)) != "end":
                if order == "ages":
                    orders.send(self.ages)
                    self.ages = []
                else:
                    orders.send(await self._be(order == "online"))

    async def _be(self, online: bool) -> None:
        self._online = online
        for n in range(TERMINALS):
            topic, said = f"soul/terminal/terminal-{n}/online", "online" if online else "offline"
            await self._client(n).publish(topic, said, qos=1)

    def _client(self, n: int) -> aiomqtt.Client:
        return self._clients[n % CONNECTIONS]

    async def _beat(self) -> None:
        while True:
            for n in range(TERMINALS):
                if n % 20 == 0:
                    await asyncio.sleep(HEARTBEAT_S * 20 / TERMINALS)
                if self._online:
                    await self._client(n).publish(f"soul/terminal/terminal-{n}/heartbeat", "1")

    async def _listen(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            self.ages.append(time.time() - json.loads(message.payload)["ts"])


def be_terminals(port: int, orders: Connection) -> None:
    uvloop.run(Terminals().live(port, orders))


class Crowd:
    """The terminals in a process of their own: what they do must not be measured with the turns."""

    def __init__(self, port: int, stack: AsyncExitStack) -> None:
        self._orders, theirs = multiprocessing.Pipe()
        process = multiprocessing.get_context("spawn").Process(target=be_terminals, args=(port, theirs))
        process.start()
        stack.callback(process.join)
        stack.callback(self._orders.send, "end")
        self._orders.recv()

    async def order(self, order: str) -> Any:
        self._orders.send(order)
        return await asyncio.to_thread(self._orders.recv)

    async def be(self, state: str) -> None:
        await self.order(state)
        await asyncio.sleep(SETTLE_S)


def cpu_s(pid: int) -> float:
    """Processor time of a process and all its threads."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


async def tick_s(client: httpx.AsyncClient) -> tuple[float, float, float]:
    """(ticks, their seconds, souls moved) since the server began."""
    figures = (await client.get("/metrics")).text
    names = ("soulgraph_tick_seconds_count", "soulgraph_tick_seconds_sum", "soulgraph_souls_ticked_total")
    count, seconds, souls = (float(re.search(rf"^{name} (\S+)$", figures, re.MULTILINE)[1]) for name in names)
    return count, seconds, souls


async def ticks(client: httpx.AsyncClient, crowd: Crowd, pid: int) -> None:
    await crowd.order("ages")
    before, cpu, began = await tick_s(client), cpu_s(pid), time.monotonic()
    await asyncio.sleep(WINDOW_S)
    after, spent, wall = await tick_s(client), cpu_s(pid) - cpu, time.monotonic() - began
    count, seconds, souls = (new - old for new, old in zip(after, before, strict=True))
    ages = await crowd.order("ages")
    heard, oldest = len(ages), statistics.quantiles(ages, n=100)[98]
    print(f"| {TERMINALS} online terminals, {count:.0f} ticks in {wall:.0f} s | measured | target | |")
    print("|---|---|---|---|")
    print(f"| souls moved a tick | {souls / count:.0f} | {TERMINALS} | |")
    print(f"| updates heard a tick | {heard / count:.0f} | {TERMINALS} | |")
    print(f"| evolve and store a tick, s | {seconds / count:.2f} | | |")
    met = "met" if oldest <= PERIOD_S else "MISSED"
    print(f"| from the tick's beginning until its updates are heard, p99 s | {oldest:.2f} | {PERIOD_S:g} | {met} |")
    share = spent / wall
    print(f"| of one core, heartbeats included | {share:.0%} | {CORE:.0%} | {'met' if share <= CORE else 'MISSED'} |")


async def turns(client: httpx.AsyncClient, soul_id: str) -> list[float]:
    waited = []
    for n in range(TURNS):
        began = time.perf_counter()
        await say(client, SAYING, soul_id=soul_id, session_id=f"s{n % 10}")
        waited.append((time.perf_counter() - began) * 1e3)
        await asyncio.sleep(0.05)
    return waited


async def turns_during_ticks(client: httpx.AsyncClient, crowd: Crowd) -> None:
    born = {"name": "talker", "mbti_type": "INFJ"}
    soul_id = (await client.post("/v1/souls", json=born)).json()["soul_id"]
    await turns(client, soul_id)
    waited: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(ROUNDS):
        for online in (True, False):
            await crowd.be("online" if online else "offline")
            waited[online] += await turns(client, soul_id)
            print(f"  … turns {'with' if online else 'without'} ticks", file=sys.stderr, flush=True)
    print("\n| a turn, offline voice, over HTTP | p50 ms | p90 ms | mean ms |\n|---|---|---|---|")
    figures = {}
    for online, name in ((False, "nobody online"), (True, f"{TERMINALS} terminals online")):
        times = waited[online]
        figures[online] = statistics.median(times), statistics.quantiles(times, n=10)[-1], statistics.mean(times)
        print(f"| {name} | {' | '.join(f'{value:.1f}' for value in figures[online])} |")
    ratios = [during / without for during, without in zip(figures[True], figures[False], strict=True)]
    marks = [f"{ratio:.2f}{'' if ratio <= SLOWER else ' MISSED'}" for ratio in ratios]
    print(f"| ratio (target: at most {SLOWER}) | {' | '.join(marks)} |")


@asynccontextmanager
async def robot_turns(folder: Path, **settings: Any) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    """Turns at a terminal of a server inside this process; with a broker, a robot listens in another task."""
    async with AsyncExitStack() as stack:
        chosen = Settings(data_dir=folder, mqtt_port=None, _env_file=None, **settings)
        services = await stack.enter_async_context(open_services(chosen))
        async with services.stores.write() as tx:
            born = {"name": "a", "mbti_type": "INFJ", "user_id": "u", "character_id": None}
            soul = await new_soul(tx, **born, now=time.time())
            await tx.souls.add(soul)
            await tx.terminals.bind("robot", soul.soul_id, time.time())
        if services.context.outlets.hub:
            where = urlsplit(services.context.outlets.hub.addresses["mqtt"])
            robot = await stack.enter_async_context(aiomqtt.Client(where.hostname, where.port))
            await robot.subscribe("soul/terminal/robot/#", qos=1)

        async def turn() -> None:
            await (await services.runner.start(TurnRequest(SAYING, "u", terminal_id="robot"))).answer()

        yield turn


async def embedded() -> None:
    """Both alternate, so that a busy machine slows both alike. The CPU is that of all: server, broker and robot."""
    with tempfile.TemporaryDirectory() as home:
        async with (
            robot_turns(Path(home) / "none", mqtt_url="none") as without,
            robot_turns(Path(home) / "embedded") as within,
        ):
            spent: dict[str, list[tuple[float, float]]] = {"no broker": [], "embedded broker": []}
            for n in range(WARM_UP + TURNS):
                for name, turn in zip(spent, (without, within), strict=True):
                    cpu, wall = time.process_time(), time.perf_counter()
                    await turn()
                    cost = (time.process_time() - cpu) * 1e3, (time.perf_counter() - wall) * 1e3
                    if n >= WARM_UP:
                        spent[name].append(cost)
    print("\n| a turn at a terminal, offline voice, in the process | CPU ms p50 | wall ms p50 |\n|---|---|---|")
    medians = [[statistics.median(column) for column in zip(*costs, strict=True)] for costs in spent.values()]
    for name, (cpu, wall) in zip(spent, medians, strict=True):
        print(f"| {name} | {cpu:.1f} | {wall:.1f} |")
    print(f"| ratio | {medians[1][0] / medians[0][0]:.2f} | {medians[1][1] / medians[0][1]:.2f} |")


async def main() -> None:
    await embedded()
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        await populate(folder)
        async with AsyncExitStack() as stack:
            port = stack.enter_context(mosquitto(folder))
            server = ServerProcess(data_dir=home, mqtt_url=f"mqtt://127.0.0.1:{port}", tick_s=f"{PERIOD_S:g}")
            await server.start()
            stack.callback(server.stop)
            client = await stack.enter_async_context(httpx.AsyncClient(base_url=server.url, timeout=60))
            crowd = Crowd(port, stack)
            await crowd.be("online")
            await ticks(client, crowd, server.pid)
            await turns_during_ticks(client, crowd)


if __name__ == "__main__":
    uvloop.run(main())
