"""Servers that say reminders, killed with SIGKILL at random moments while their clock jumps; then every one is counted.

    python bench/reminders.py --count 10000 --servers 2 [--database-url postgresql://…]

The clock is a number in a file that all processes read, so it can be set to anything. What is sent is written to a
file as well: a line for each message that a listener was told.
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import signal
import struct
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from soulgraph.library.persona_config import PersonaConfig, ProactiveConfig
from soulgraph.nodes.context import Context, Outlets, Senses
from soulgraph.nodes.plan_records import new_plan
from soulgraph.runtime.listeners import Listeners
from soulgraph.runtime.reminders import Reminders
from soulgraph.senses.emotion.lexical import LexiconRecogniser
from soulgraph.senses.intents.filter import IntentFilter
from soulgraph.senses.plans.finding import FoundPlan
from soulgraph.settings import Settings
from soulgraph.soul.plan_times import Recurs, local_time
from soulgraph.soul.quiet_hours import QuietHours
from soulgraph.stores.database import Database
from soulgraph.stores.factories import default_session_id, new_soul
from soulgraph.stores.records import Plan
from soulgraph.stores.stores import Stores
from soulgraph.voices.factory import open_voice

BEGIN = datetime(2027, 3, 1, 8, tzinfo=UTC).timestamp()
PEOPLE = 20
SPAN_S = 4 * 3600.0
"""Reminders are due within this time after the beginning."""
_SOUL = "soul_of_many"
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(["soulgraph.server", "soulgraph.bench.reminders"])


class SharedClock:
    """Epoch seconds in a file."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def __call__(self) -> float:
        at: float = struct.unpack("d", os.pread(self._file, 8, 0))[0]
        return at

    def set(self, at: float) -> None:
        os.pwrite(self._file, struct.pack("d", at), 0)


@dataclass
class Report:
    """How it went; `wrong` is what must be empty."""

    count: int
    kills: int = 0
    jumps: dict[str, int] = field(default_factory=lambda: {"forwards": 0, "backwards": 0})
    seconds: float = 0.0
    drained: int = 0
    """Those that were only said after the last kill."""
    stored: int = 0
    sent: int = 0
    sent_again: int = 0
    wrong: list[str] = field(default_factory=list)


def serve(url: str, clock_path: str, log_path: str) -> None:
    """One server: only what says reminders, with everybody listening."""
    asyncio.run(_serve(url, SharedClock(Path(clock_path)), log_path))


async def _serve(url: str, clock: SharedClock, log_path: str) -> None:
    log = os.open(log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    async with Database.open(url) as database, open_voice(Settings.load().llm, ()) as voice:
        listeners = Listeners()
        context = Context(
            stores=Stores(database),
            senses=Senses(LexiconRecogniser(), IntentFilter(None)),
            voice=voice,
            read_persona=lambda: PersonaConfig(life=ProactiveConfig(quiet_hours=QuietHours.parse(""))),
            clock=clock,
            timezone=UTC,
            outlets=Outlets(listeners=listeners),
        )
        reminders = Reminders(context, listeners)
        with listeners.connect() as listener:
            for n in range(PEOPLE):
                listeners.subscribe(listener, _SOUL, f"p{n}")
            listener.push = lambda notice: _write(log, notice)  # type: ignore[method-assign]
            while True:
                await reminders.pulse()
                await asyncio.sleep(0.01)


def _write(log: int, notice: Any) -> None:
    if notice.event == "proactive":
        os.write(log, f"{json.dumps(notice.data)}\n".encode())


def _plan(n: int, chance: random.Random) -> Plan:
    """Most are said once, some every day."""
    recurs: Recurs = "daily" if n % 25 == 0 else ""
    due = local_time(BEGIN + chance.uniform(1, SPAN_S), UTC).replace(microsecond=0)
    found = FoundPlan("reminder", f"errand number {n};", due, due, "minute", recurs)
    return new_plan(found, _SOUL, f"p{n % PEOPLE}", BEGIN, "UTC", UTC)


async def _fill(url: str, count: int, chance: random.Random) -> None:
    async with Database.open(url) as database:
        stores = Stores(database)
        async with stores.write() as tx:
            soul = await new_soul(tx, name="Many", mbti_type="INFJ", user_id="p0", character_id=None, now=BEGIN)
            await tx.souls.add(
                type(soul)(**{name: getattr(soul, name) for name in soul.__slots__} | {"soul_id": _SOUL})
            )
        for start in range(0, count, 500):
            async with stores.write() as tx:
                for n in range(start, min(start + 500, count)):
                    await tx.plans.put(_plan(n, chance))


async def _is_done(stores: Stores, now: float) -> bool:
    """Whether nothing is still to be said or sent."""
    async with stores.read() as tx:
        due = await tx.plans.next_due()
        busy = await tx.plans.page(_SOUL, None, ["delivering"], limit=1)
    return not busy and (due is None or due > now)


async def run(url: str, folder: Path, count: int, servers: int, seed: int = 1, steps: int = 60) -> Report:
    """`steps` are moments at which a server is killed, the clock jumps, or both."""
    chance = random.Random(seed)
    report = Report(count)
    await _fill(url, count, chance)
    clock = SharedClock(folder / "clock")
    clock.set(BEGIN)
    log = folder / "sent.jsonl"
    begun = time.monotonic()
    latest = BEGIN
    alive = [_start(url, folder, log) for _ in range(servers)]
    try:
        for step in range(steps):
            latest = max(latest, _turn_clock(clock, step, steps, chance, report))
            await asyncio.sleep(chance.uniform(0.2, 0.4 + count / 4000))
            if chance.random() < 0.7:
                _kill(chance.choice(alive), alive, report, url, folder, log)
        report.drained = await _open(url)
        clock.set(latest := max(latest, BEGIN + SPAN_S))
        latest = await _drain(url, clock, latest, alive, lambda: _start(url, folder, log))
    finally:
        for process in alive:
            process.kill()
            process.join()
    report.seconds = time.monotonic() - begun
    await _check(url, log, report, latest)
    return report


async def _open(url: str) -> int:
    async with Database.open(url) as database, Stores(database).read() as tx:
        return sum(plan.delivered_at is None for plan in await tx.plans.all(_SOUL))


async def _drain(url: str, clock: SharedClock, latest: float, alive: list[Any], start: Callable[[], Any]) -> float:
    """Let the clock go on until everything was said; a server that could not start is started again."""
    async with Database.open(url) as database:
        while not await _is_done(Stores(database), latest):
            latest += 20
            clock.set(latest)
            await asyncio.sleep(0.2)
            alive[:] = [one if one.is_alive() else start() for one in alive]
    return latest


def _start(url: str, folder: Path, log: Path) -> Any:
    process = _FORKS.Process(target=serve, args=(url, str(folder / "clock"), str(log)), daemon=True)
    process.start()
    return process


def _kill(victim: Any, alive: list[Any], report: Report, url: str, folder: Path, log: Path) -> None:
    """Kill one and put another in its place."""
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    report.kills += 1
    alive[alive.index(victim)] = _start(url, folder, log)


def _turn_clock(clock: SharedClock, step: int, steps: int, chance: random.Random, report: Report) -> float:
    """It goes on, and now and then jumps by up to an hour, once by days."""
    now = clock() + SPAN_S / steps * chance.uniform(0.2, 1.8)
    if step % 6 == 2:
        report.jumps["backwards"] += 1
        now -= chance.uniform(60, 3600)
    elif step % 6 == 5:
        report.jumps["forwards"] += 1
        now += 2 * 86400 if report.jumps["forwards"] == steps // 10 else chance.uniform(600, 3600)
    clock.set(now)
    return now


async def _check(url: str, log: Path, report: Report, latest: float) -> None:
    """Each one is in its person's transcript once, and was sent under that one id."""
    lines = (await asyncio.to_thread(log.read_text, "utf-8")).splitlines()
    sent = [json.loads(line) for line in lines]
    async with Database.open(url) as database, Stores(database).read() as tx:
        plans = await tx.plans.all(_SOUL)
        transcripts = {f"p{n}": await tx.messages.page(default_session_id(_SOUL, f"p{n}")) for n in range(PEOPLE)}
    messages = [(user_id, one) for user_id, told in transcripts.items() for one in told]
    ids = {one.turn_id for _, one in messages}
    times_sent = Counter(one["delivery_id"] for one in sent)
    report.stored, report.sent = len(messages), len(times_sent)
    report.sent_again = sum(times_sent.values()) - len(times_sent)
    report.wrong += [f"sent but not stored: {one}" for one in times_sent.keys() - ids]
    report.wrong += [f"stored but not sent: {one}" for one in ids - times_sent.keys()]
    report.wrong += [
        f"stored twice: {one}" for one, times in Counter(m.turn_id for _, m in messages).items() if times > 1
    ]
    for plan in plans:
        report.wrong += _faults(plan, [m.content for _, m in messages if plan.content in m.content], messages, latest)


def _faults(plan: Plan, told: Sequence[str], messages: Sequence[Any], latest: float) -> list[str]:
    most = 1 if not plan.recurs else 1 + int((latest - BEGIN) // 86400)
    faults = [] if 1 <= len(told) <= most else [f"{plan.content} was said {len(told)} times, expected 1 to {most}"]
    owners = {user_id for user_id, one in messages if plan.content in one.content}
    faults += [f"{plan.content} was told to {owners}"] if owners - {plan.user_id} else []
    wanted = "open" if plan.recurs else "delivered"
    return faults if plan.status == wanted else [*faults, f"{plan.content} is {plan.status}"]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=10_000)
    options.add_argument("--servers", type=int, default=1)
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--database-url", default="", help="by default SQLite in a folder of its own")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        url = asked.database_url or f"sqlite:///{folder}/reminders.db"
        report = asyncio.run(run(url, Path(folder), asked.count, asked.servers, asked.seed, asked.steps))
    print(
        f"{report.count} reminders, {asked.servers} servers, {report.seconds:.0f} s: {report.kills} kills, "
        f"{report.jumps['forwards']} jumps forwards, {report.jumps['backwards']} backwards; {report.stored} stored, "
        f"{report.sent} sent, {report.sent_again} sent again with the same id, "
        f"{report.drained} after the last kill; {len(report.wrong)} wrong"
    )
    print("\n".join(report.wrong[:20]))
    return bool(report.wrong)


if __name__ == "__main__":
    sys.exit(main())
