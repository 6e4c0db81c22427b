"""What one of each thing costs: a turn, a job, a tick, a soul, a message, an open stream, an MQTT message.

On PostgreSQL and Mosquitto. What is written to the database's log is counted for all who use that database, so of some
rounds the cheapest counts; run it where nobody else is. A batch is one statement; BEGIN and COMMIT are none. It is for
`bench/scale.py`.
"""

import asyncio
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psycopg

from soulgraph.bench import storage
from soulgraph.bench.load import BenchServer, processor_s, resident_mb
from soulgraph.bench.scale_ticks import populate, postgres_s, rounds, written_bytes
from soulgraph.bench.terminals import mosquitto
from soulgraph.bench.turn import Talker, soulgraph_turns, stub_model
from soulgraph.soul.dynamics import born
from soulgraph.soul.gate import judge
from soulgraph.soul.gate_words import gate_report
from soulgraph.soul.personality import traits_of
from soulgraph.stores.factories import default_session_id
from soulgraph.terminals.hub import MqttHub
from soulgraph.terminals.payloads import EmotionUpdate
from soulgraph.tests.live import new_soul, say
from soulgraph.tests.services import postgres_schema

TURNS, ROUNDS, SESSIONS, WARM_UP = 40, 4, 4, 20
SOULS, TICK_S, TICKING_S = 2000, 3.0, 12.0
NOTIFIERS, NOTIFYING_S = 8, 4.0
MESSAGES, STREAMS, HEARD_TURNS, UPDATES = 2000, 500, 30, 5000


class Row(NamedTuple):
    """Of one thing; what does not apply is empty."""

    what: str
    cpu: str
    statements: str = ""
    postgres: str = ""
    log: str = ""
    size: str = ""

    def line(self) -> str:
        return f"| {' | '.join(self)} |"


HEAD = ("one", "CPU of the server", "statements", "CPU of PostgreSQL", "written to its log", "stays in the database")


class Spent(NamedTuple):
    """Per turn: processor time of this process in ms, statements, commits, and processor time of the database in ms."""

    cpu: float
    statements: float
    commits: float
    postgres: float


@contextmanager
def counted(**methods: type) -> Iterator[Counter[str]]:
    """How often these methods of psycopg are called meanwhile, by whomever in this process."""
    times: Counter[str] = Counter()
    real: dict[str, Any] = {name: getattr(kind, name) for name, kind in methods.items()}

    def counting(name: str) -> Callable[..., Any]:
        def count(*args: Any, **kwargs: Any) -> Any:
            times[name] += 1
            return real[name](*args, **kwargs)

        return count

    for name, kind in methods.items():
        setattr(kind, name, counting(name))
    try:
        yield times
    finally:
        for name, kind in methods.items():
            setattr(kind, name, real[name])


async def _spent(url: str, talker: Talker, apart: bool) -> Spent:
    """Of turns alone, if each job is waited for `apart`; otherwise of turns and jobs together."""
    cursor, totals = psycopg.AsyncCursor, [0.0, 0.0, 0.0, 0.0]
    with counted(execute=cursor, executemany=cursor, commit=psycopg.AsyncConnection) as sent:

        def now() -> list[float]:
            statements = sent["execute"] + sent["executemany"]
            return [time.process_time() * 1e3, statements, sent["commit"], postgres_s(url) * 1e3]

        for n in range(TURNS if apart else 1):
            before = now()
            for k in range(1 if apart else TURNS):
                await talker.turn(f"s{(n + k) % SESSIONS}")
            if not apart:
                await talker.settled()
            totals = [total + new - old for total, new, old in zip(totals, now(), before, strict=True)]
            await talker.settled()
    return Spent._make(total / TURNS for total in totals)


async def turns_and_jobs(database_url: str) -> list[Row]:
    """In this process, one turn at a time, without HTTP."""
    async with AsyncExitStack() as stack:
        url = stack.enter_context(postgres_schema(database_url))
        model = stack.enter_context(stub_model(chunk_size=4096))
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        talking = soulgraph_turns(model, home, database_url=url, mqtt_url="none")
        talker = await stack.enter_async_context(talking)
        for n in range(WARM_UP):
            await talker.turn(f"s{n % SESSIONS}")
        await talker.settled()
        alone, both, written = [], [], []
        before = await storage.size_in_postgres(url)
        for _ in range(ROUNDS):
            log = written_bytes(url)
            both.append(await _spent(url, talker, apart=False))
            written.append((written_bytes(url) - log) / TURNS)
            alone.append(await _spent(url, talker, apart=True))
        grown = (await storage.size_in_postgres(url) - before) * 2**20 / (2 * ROUNDS * TURNS)
    turn = Spent._make(map(statistics.median, zip(*alone, strict=True)))
    pair = Spent._make(map(statistics.median, zip(*both, strict=True)))
    job = Spent._make(whole - part for whole, part in zip(pair, turn, strict=True))
    stays = f"{min(written) / 1024:.0f} KB", f"{grown / 1024:.1f} KB"
    return [
        Row("turn, without HTTP", *_cells(turn)),
        Row("job after it", *_cells(job)),
        Row("both together", *_cells(pair), *stays),
    ]


def _cells(spent: Spent) -> tuple[str, str, str]:
    statements = f"{spent.statements:.0f}, {spent.commits:.0f} commits"
    return f"{spent.cpu:.1f} ms", statements, f"{spent.postgres:.1f} ms"


async def notices(database_url: str) -> list[Row]:
    """`NOTIFY` alone, and in a transaction that writes: PostgreSQL commits those that notify one after the other."""
    rows = []
    with postgres_schema(database_url) as url:
        await populate(url, NOTIFIERS)
        durable = url.replace("synchronous_commit%3Doff", "synchronous_commit%3Don")
        for name, written in (("NOTIFY alone", False), ("NOTIFY with a row that is written", True)):
            began = time.monotonic()
            counts = await asyncio.gather(*(_notify(durable, n, written) for n in range(NOTIFIERS)))
            sent, took = sum(counts), time.monotonic() - began
            rows.append(Row(f"{name}, {NOTIFIERS} connections", f"{sent / took:,.0f} a second"))
    return rows


async def _notify(url: str, n: int, written: bool) -> int:
    """For some seconds; returns how many."""
    sent, until = 0, time.monotonic() + NOTIFYING_S
    async with await psycopg.AsyncConnection.connect(url) as connection:
        while time.monotonic() < until:
            if written:
                await connection.execute("UPDATE souls SET turns = turns + 1 WHERE soul_id = %s", [f"soul_{n}"])
            await connection.execute("SELECT pg_notify('bench', %s)", [f"turn {sent} of soul {n}"])
            await connection.commit()
            sent += 1
    return sent


async def souls_and_ticks(database_url: str) -> list[Row]:
    with postgres_schema(database_url) as url:
        await populate(url, 1)
        empty = await storage.size_in_postgres(url)
    with postgres_schema(database_url) as url:
        await populate(url, SOULS)
        at_rest = (await storage.size_in_postgres(url) - empty) * 2**20 / SOULS
        log = written_bytes(url)
        [told], share = await rounds(url, SOULS, 1, TICK_S, TICKING_S)
        ticks = sum(told.souls)
        written = (written_bytes(url) - log) / ticks
    cpu, theirs = told.cpu_s / ticks * 1e6, share * told.wall_s / ticks * 1e6
    tick = Row("tick, with its heartbeats", f"{cpu:.0f} µs", f"{told.statements / ticks:.2f}", f"{theirs:.0f} µs")
    return [
        Row("soul with a terminal, at rest", "0", "0", "0", "0", f"{at_rest / 1024:.1f} KB"),
        tick._replace(log=f"{written / 1024:.1f} KB", size="at most 980 points of history a soul"),
    ]


async def messages(database_url: str) -> list[Row]:
    """Text, words to search by, and a vector of 512 halves; what a turn writes two of."""
    with postgres_schema(database_url) as url:
        await storage.fill("postgresql", url, 1, 1)
        empty = await storage.size_in_postgres(url)
    with postgres_schema(database_url) as url:
        _, cpu = await storage.fill("postgresql", url, 1, MESSAGES)
        grown = (await storage.size_in_postgres(url) - empty) * 2**20 / MESSAGES
    return [Row("message with its vector", f"{cpu:.1f} ms", size=f"{grown / 1024:.1f} KB")]


class Listening:
    """Listeners of one soul; what they are told is counted and thrown away."""

    def __init__(self) -> None:
        self.notices = 0

    @asynccontextmanager
    async def open(self, server: BenchServer, soul_id: str, count: int) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for _ in range(count):
                reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
                stack.callback(writer.close)
                writer.write(
                    f"GET /v1/souls/{soul_id}/stream HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\n\r\n".encode()
                )
                await reader.readuntil(b"\r\n\r\n")
                stack.callback(asyncio.create_task(self._count(reader)).cancel)
            await asyncio.sleep(1)
            yield

    async def _count(self, reader: asyncio.StreamReader) -> None:
        while piece := await reader.read(65536):
            self.notices += piece.count(b"event: ")


async def _talk(client: httpx.AsyncClient, server: BenchServer, soul_id: str) -> float:
    """Processor time of some turns with the offline voice, and of what follows them."""
    before = processor_s(server.pid)
    for n in range(HEARD_TURNS):
        await say(client, f"I saw bird number {n} by the river.", soul_id=soul_id, session_id=f"s{n % SESSIONS}")
    await asyncio.sleep(1)
    return processor_s(server.pid) - before


async def open_streams(database_url: str) -> list[Row]:
    """What the same turns cost more when many listen to the soul."""
    listening = Listening()
    with postgres_schema(database_url) as url, tempfile.TemporaryDirectory() as home:
        server = BenchServer(data_dir=home, database_url=url)
        await server.start()
        try:
            async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
                soul_id = await new_soul(client)
                await _talk(client, server, soul_id)
                alone, memory = await _talk(client, server, soul_id), resident_mb(server.pid)
                async with listening.open(server, soul_id, STREAMS):
                    grown, before = resident_mb(server.pid) - memory, listening.notices
                    heard = await _talk(client, server, soul_id)
                    notices = listening.notices - before
        finally:
            server.kill()
    each = (heard - alone) / max(notices, 1) * 1e6
    kept = f"{grown * 1024 / STREAMS:.0f} KB of memory a stream"
    return [Row(f"notice to an open stream ({notices:,} heard)", f"{each:.0f} µs", size=kept)]


async def mqtt_messages() -> list[Row]:
    """Emotion updates to Mosquitto, with the client's part of QoS 1."""
    traits, now = traits_of("INFP"), time.time()
    feeling = born(traits, now)
    gate = judge(traits, feeling, now)
    with tempfile.TemporaryDirectory() as home, mosquitto(Path(home)) as port:
        async with MqttHub.open(f"mqtt://127.0.0.1:{port}") as hub:
            before = time.process_time()
            for n in range(UPDATES):
                hub.emotion_update(
                    EmotionUpdate(
                        session_id=default_session_id("soul", terminal_id=f"t{n}"),
                        terminal_id=f"t{n}",
                        soul_id="soul",
                        soul_emotion=feeling.to_dict(),
                        exec_probability=gate.exec_probability,
                        exec_mode=gate.exec_mode,
                        gate=gate_report(gate, "en"),
                        ts=now,
                    )
                )
            await hub._queue.wait_until_sent()
            each = (time.process_time() - before) / UPDATES * 1e6
    return [Row("MQTT message to a terminal", f"{each:.0f} µs")]


async def show(database_url: str) -> None:
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    for measure in (turns_and_jobs, souls_and_ticks, messages, open_streams, notices):
        for row in await measure(database_url):
            print(row.line(), flush=True)
    for row in await mqtt_messages():
        print(row.line(), flush=True)
