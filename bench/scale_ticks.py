"""The ticks of many souls, shared by several servers on one PostgreSQL: what a round takes, costs and misses.

The souls and their terminals are real rows; each server is a process that runs the `Ticks` of the real one and hears
the heartbeats of its share of the terminals. Its hub writes every update as JSON and sends it nowhere, so the broker is
not in it. For `bench/scale.py`.
"""

import asyncio
import multiprocessing
import random
import statistics
import time
from array import array
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
import psutil
import psycopg
import uvloop
from sqlalchemy import event, make_url

from soulgraph.runtime.background import in_background
from soulgraph.runtime.ticks import Ticks
from soulgraph.soul.constants import DEFAULT
from soulgraph.soul.dynamics import born
from soulgraph.soul.emotions import UserEmotion
from soulgraph.soul.impact import impact
from soulgraph.soul.personality import traits_of
from soulgraph.stores import schema
from soulgraph.stores.database import Database
from soulgraph.stores.factories import new_soul
from soulgraph.stores.stores import Stores
from soulgraph.stores.terminals import SILENCE_S
from soulgraph.terminals import presence as presences
from soulgraph.terminals.compact_emotion import CompactEmotion, Feeling, ToldEmotions
from soulgraph.terminals.payloads import EmotionUpdate
from soulgraph.terminals.presence import Presence

HEARTBEAT_S, BEAT_S, GAUGE_S = 10.0, 0.1, 0.005
MAX_WAIT_S, ROUNDS = 240, 2
TRAITS = traits_of("INFP")
ANGER = UserEmotion("anger", -0.60, 0.75, 0.25, 0.9, 0.9)


class Rounds(NamedTuple):
    """What one server tells of its ticks: seconds and souls of each round, processor time, statements sent, how late
    its loop was in ms, and of each tick the soul's number and the time that it was for."""

    seconds: list[float]
    souls: list[int]
    cpu_s: float
    wall_s: float
    statements: int
    late_ms: list[float]
    ticked: np.ndarray[Any, Any]


class CountingHub:
    """Writes each update as it would be sent."""

    def __init__(self) -> None:
        self.numbers = array("d")
        self._told = ToldEmotions()

    def emotion_update(self, update: EmotionUpdate) -> None:
        update.model_dump_json()
        self.numbers.extend((int(update.soul_id.rpartition("_")[2]), update.ts))

    def compact_emotion(self, terminal_id: str, feeling: Feeling, previous_at: float | None = None) -> None:
        if self._told.is_news(terminal_id, feeling, previous_at):
            CompactEmotion.of(feeling).to_json()


async def populate(url: str, souls: int) -> None:
    """That many souls that are hurt, with an online terminal each, all copied from one."""
    now = time.time()
    async with Database.open(url) as database, Stores(database).write() as tx:
        feeling = impact(TRAITS, born(TRAITS, now), ANGER, now)
        born_now = await new_soul(tx, name="0", mbti_type="INFP", user_id="u", character_id=None, now=now)
        await tx.souls.add(replace(born_now, soul_id="soul_0", emotion_state=feeling))
        await tx.terminals.bind("term_0", "soul_0", now)
    _copy_rows(url, "souls", {"soul_id": "'soul_' || n", "name": "n::text"}, souls)
    _copy_rows(url, "terminals", {"terminal_id": "'term_' || n", "soul_id": "'soul_' || n"}, souls)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ANALYZE souls, terminals")


def _copy_rows(url: str, table: str, changed: dict[str, str], count: int) -> None:
    """Rows 1 to `count` as the only one there is, except for these columns."""
    names = [column.name for column in schema.metadata.tables[table].columns]
    values = ", ".join(changed.get(name, name) for name in names)
    rows = f"FROM {table}, generate_series(1, {count - 1}) AS n"
    with psycopg.connect(url) as connection:
        connection.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} {rows}".encode())


def serve(url: str, terminals: Sequence[str], period_s: float, orders: Connection) -> None:
    """One server: its ticks, until told to end."""
    uvloop.run(_serve(url, terminals, period_s, orders))


async def _serve(url: str, terminals: Sequence[str], period_s: float, orders: Connection) -> None:
    presences.MAX_TERMINALS = max(presences.MAX_TERMINALS, len(terminals))
    async with Database.open(url) as database:
        hub, presence, sent = CountingHub(), Presence(time.time), [0]
        seconds, souls, late_ms = list[float](), list[int](), list[float]()

        def observe(ticked: int, took_s: float) -> None:
            souls.append(ticked)
            seconds.append(took_s)

        def count(*_: object) -> None:
            sent[0] += 1

        event.listen(database._engine.sync_engine, "before_cursor_execute", count)  # type: ignore[attr-defined]
        ticks = Ticks(Stores(database), presence, hub, DEFAULT, time.time, period_s, observe)  # type: ignore[arg-type]
        orders.send("ready")
        await asyncio.sleep(await asyncio.to_thread(orders.recv))
        began, cpu = time.monotonic(), time.process_time()
        async with _beating(presence, terminals), _gauged(late_ms), ticks.running():
            while await asyncio.to_thread(orders.recv) != "end":
                orders.send(len(seconds))
            spent, wall = time.process_time() - cpu, time.monotonic() - began
        ticked = np.array(hub.numbers).reshape(-1, 2)
        orders.send(Rounds(seconds, souls, spent, wall, sent[0], late_ms, ticked))


@asynccontextmanager
async def _beating(presence: Presence, terminals: Sequence[str]) -> AsyncIterator[None]:
    """Every terminal sends its heartbeat every ten seconds."""

    async def beat() -> None:
        at, began = 0, time.monotonic()
        while terminals:
            await asyncio.sleep(BEAT_S)
            due = int((time.monotonic() - began) / HEARTBEAT_S * len(terminals))
            for n in range(at, due):
                presence.seen(terminals[n % len(terminals)])
            at = due

    async with in_background(beat(), "heartbeats", "ended"):
        yield


@asynccontextmanager
async def _gauged(late_ms: list[float]) -> AsyncIterator[None]:
    """How late the loop comes back to who waits for a few milliseconds: what a turn would wait at every step."""

    async def gauge() -> None:
        while True:
            due = time.perf_counter() + GAUGE_S
            await asyncio.sleep(GAUGE_S)
            late_ms.append((time.perf_counter() - due) * 1e3)

    async with in_background(gauge(), "gauge", "ended"):
        yield


def postgres_s(url: str) -> float:
    """Processor time of the database's processes that serve this schema, if they run on this machine."""
    name = make_url(url).query["application_name"]
    query = "SELECT pid FROM pg_stat_activity WHERE application_name = %s"
    with psycopg.connect(url, application_name="") as connection:
        pids = [pid for (pid,) in connection.execute(query, [name]).fetchall()]
    times = [psutil.Process(pid).cpu_times() for pid in pids if psutil.pid_exists(pid)]
    return float(sum(one.user + one.system for one in times))


def written_bytes(url: str) -> int:
    """What the database has written to its log so far, for all that use it."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone()
        assert row
        return int(row[0])


async def _asked(server: Connection) -> int:
    """How many rounds it has done."""
    server.send("rounds")
    return int(await asyncio.to_thread(server.recv))


async def rounds(url: str, souls: int, servers: int, period_s: float, seconds: float) -> tuple[list[Rounds], float]:
    """What each server tells of two rounds or more, and the database's share of a core meanwhile."""
    starting = multiprocessing.get_context("spawn")
    pipes = [multiprocessing.Pipe() for _ in range(servers)]
    processes = []
    for n, (_, theirs) in enumerate(pipes):
        terminals = [f"term_{one}" for one in range(n, souls, servers)]
        processes.append(starting.Process(target=serve, args=(url, terminals, period_s, theirs)))
        processes[-1].start()
    for ours, _ in pipes:
        await asyncio.to_thread(ours.recv)
    chance = random.Random(7)
    for n, (ours, _) in enumerate(pipes):
        ours.send(chance.uniform(0, period_s) if n else 0.0)
    await asyncio.sleep(2 * period_s)
    began, busy = time.monotonic(), postgres_s(url)
    await asyncio.sleep(seconds)
    for _ in range(MAX_WAIT_S):
        if min([await _asked(ours) for ours, _ in pipes]) >= ROUNDS:
            break
        await asyncio.sleep(1)
    share = (postgres_s(url) - busy) / (time.monotonic() - began)
    for ours, _ in pipes:
        ours.send("end")
    told = [await asyncio.to_thread(ours.recv) for ours, _ in pipes]
    for process in processes:
        process.join()
    return told, share


def capacity(told: Sequence[Rounds], period_s: float) -> float:
    """How many souls one core could tick in a period if it did nothing else; the database has cores of its own."""
    spent = sum(one.cpu_s for one in told)
    return period_s * sum(sum(one.souls) for one in told) / max(spent, 1e-9)


def stay_awake(url: str, seconds: float) -> None:
    """All terminals count as seen for so long, up to two minutes, without a heartbeat."""
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE terminals SET last_seen = %s", [time.time() + min(seconds, SILENCE_S)])


def gaps(told: Sequence[Rounds]) -> tuple[list[float], int]:
    """Seconds from the time of one tick of a soul to that of its next, all servers together, and how many souls were
    ticked."""
    table = np.concatenate([one.ticked for one in told])
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    same = table[1:, 0] == table[:-1, 0]
    return (table[1:, 1] - table[:-1, 1])[same].tolist(), len(np.unique(table[:, 0]))


def row(souls: int, told: Sequence[Rounds], share: float, period_s: float) -> str:
    between, ticked = gaps(told)
    took = [seconds for one in told for seconds in one.seconds]
    count = sum(sum(one.souls) for one in told)
    late = sorted(ms for one in told for ms in one.late_ms)
    ranked = sorted(between) or [float("nan")]
    wall_s = max(one.wall_s for one in told)
    cells = [f"{souls:,}", str(len(told)), f"{statistics.median(took):.2f} ({max(took):.2f})"]
    cells += [f"{count / wall_s:,.0f}", f"{ticked / souls:.1%}"]
    cells += [f"{ranked[len(ranked) // 2]:.1f} ({ranked[0]:.1f} to {ranked[-1]:.1f})"]
    cells += [" + ".join(f"{one.cpu_s / one.wall_s:.0%}" for one in told), f"{share:.0%}"]
    cells += [f"{sum(one.cpu_s for one in told) / max(1, count) * 1e6:.0f}"]
    cells += [f"{sum(one.statements for one in told) / max(1, count):.3f}"]
    cells += [f"{late[int(0.99 * len(late))]:.0f} ({late[-1]:.0f})"]
    cells += ["yes" if statistics.median(took) <= period_s else "NO"]
    return f"| {' | '.join(cells)} |"


HEAD = (
    "souls awake",
    "servers",
    "a round, s (longest)",
    "ticks a second",
    "souls ticked",
    "s between ticks of a soul",
    "of a core, each server",
    "PostgreSQL",
    "CPU µs a tick",
    "statements a tick",
    "loop late ms p99 (longest)",
    "fits the period",
)
