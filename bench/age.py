"""What a turn costs when a soul and its server have grown old, over what it costs when they are young.

    python bench/age.py [sqlite] [postgresql] [soul] [real] [sessions] [souls] [events]

A server process ages by turns that are really run, against an instant stub model, or by the rows that they would have
left (`soul`). Then it takes turns with a young server, a process started for this, whose soul is at turn 200. Both are
asked in turn, so that a busy machine slows both alike; a cost is the processor time of the process, up to the answer
and of all that follows it.
"""

import asyncio
import json
import statistics
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from soulgraph.bench.made_up import talk
from soulgraph.tests.e2e.afterglow import EXTRACTS, REFLECTS, event, reflection
from soulgraph.tests.stub_openai import Reply, StubOpenAI

BACKENDS = ("sqlite", "postgresql")
YOUNG, WINDOW, STEP = 200, 200, 5
MARKS = (1000, 2000, 4000, 8000)
LIVED = 8000
SESSIONS, SOULS, EVENTS = 400, 400, 10_000
_LONGEST_LINE = 2**24


class Server:
    """One `bench/age_server.py`, told what to do."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def do(self, order: str, **values: Any) -> dict[str, Any]:
        self._process.stdin.write(json.dumps({"do": order, **values}).encode() + b"\n")
        await self._process.stdin.drain()
        told: dict[str, Any] = json.loads(await self._process.stdout.readline())
        return told


@asynccontextmanager
async def server(base_url: str, backend: str) -> AsyncIterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(__file__).with_name("age_server.py")
        process = await asyncio.create_subprocess_exec(
            sys.executable, program, folder, base_url, backend, stdin=PIPE, stdout=PIPE, limit=_LONGEST_LINE
        )
        try:
            yield Server(process)
        finally:
            process.stdin.close()
            await process.wait()


@asynccontextmanager
async def stub_model() -> AsyncIterator[str]:
    """It never says the same twice: a soul that did would be asked again."""
    replies, thoughts = talk(10**9, seed=1), count()

    def reply(_: Any) -> Reply:
        text = f"<narrative>I hear you. {next(replies)}</narrative><state_update_json>{{}}</state_update_json>"
        return Reply(text=text, chunk_size=4096)

    topics = talk(10**9, seed=2)
    async with StubOpenAI() as stub:
        stub.when(EXTRACTS, lambda _: event(next(topics)))
        stub.when(REFLECTS, lambda _: reflection(f"I keep thinking of it, for the {next(thoughts)}th time."))
        stub.when("", reply)
        yield stub.base_url


Scenario = Callable[[Server], AsyncIterator[str]]


async def compare(old: Server, young: Server, fresh: str) -> dict[str, dict[str, float]]:
    """The costs of the old soul, of a fresh soul on its server, and of the young one on its own, alternating.

    Of turns the medians; after most turns there is little to be done, and after some a lot, so of that the means.
    """
    asked = {"old": (old, "old"), "fresh": (old, fresh), "young": (young, "young")}
    costs: dict[str, dict[str, list[float]]] = {name: {"turn": [], "after": []} for name in asked}
    for _ in range(WINDOW // STEP):
        for name, (server, soul) in asked.items():
            told = await server.do("turns", soul=soul, n=STEP)
            for part, values in costs[name].items():
                values.extend(told[part])
    return {
        name: {"turn": statistics.median(parts["turn"]), "after": statistics.fmean(parts["after"])}
        for name, parts in costs.items()
    }


async def measure(old: Server, base_url: str, backend: str, label: str) -> None:
    async with server(base_url, backend) as young:
        await young.do("turns", soul="young", n=YOUNG)
        await old.do("turns", soul="old", n=STEP)
        await old.do("turns", soul=label, n=YOUNG // 10)
        costs = await compare(old, young, label)
        facts, usual = await old.do("facts"), await young.do("facts")
    told = [f"{cost['turn']:.1f} + {cost['after']:.1f}" for cost in costs.values()]
    whole = {name: sum(cost.values()) for name, cost in costs.items()}
    ratios = [costs["old"]["turn"] / costs["young"]["turn"], whole["old"] / whole["young"]]
    ratios += [whole["old"] / whole["fresh"]]
    cells = [label, *told, *(f"{ratio:.2f}" for ratio in ratios), f"{facts['rss']:.0f} ({usual['rss']:.0f})"]
    print(f"| {' | '.join([backend, *cells])} | {facts['tasks']} |", flush=True)


async def one_session(old: Server) -> AsyncIterator[str]:
    await old.do("turns", soul="old", n=20)
    await old.do("live_through", soul="old", n=LIVED)
    yield f"{LIVED} turns in one session, written"


async def real_turns(old: Server) -> AsyncIterator[str]:
    lived = 0
    for mark in MARKS:
        await old.do("turns", soul="old", n=mark - lived)
        lived = mark
        yield f"{mark} turns in one session, run"


async def many_sessions(old: Server) -> AsyncIterator[str]:
    for n in range(SESSIONS):
        await old.do("turns", soul="old", n=STEP, session=f"s{n}")
    yield f"{SESSIONS} sessions of {STEP} turns"


async def many_souls(old: Server) -> AsyncIterator[str]:
    for n in range(SOULS):
        await old.do("turns", soul=f"soul {n}", n=20)
    yield f"{SOULS} souls of 20 turns"


async def many_events(old: Server) -> AsyncIterator[str]:
    await old.do("turns", soul="old", n=20)
    await old.do("add_events", n=EVENTS)
    yield f"{EVENTS} events"


async def run(backend: str, scenario: Scenario) -> None:
    async with stub_model() as base_url, server(base_url, backend) as old:
        async for label in scenario(old):
            await measure(old, base_url, backend, label)


async def main(words: Sequence[str]) -> None:
    scenarios = {
        "soul": one_session,
        "real": real_turns,
        "sessions": many_sessions,
        "souls": many_souls,
        "events": many_events,
    }
    print(
        "| database | lived | old: turn + after, CPU ms | fresh soul there | young server | turn, old / young |", end=""
    )
    print(" all, old / young | all, old / fresh | RSS MB (young) | tasks |\n|---|---|---|---|---|---|---|---|---|---|")
    for backend in [word for word in BACKENDS if word in words] or BACKENDS:
        for name in [word for word in scenarios if word in words] or scenarios:
            await run(backend, scenarios[name])


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
