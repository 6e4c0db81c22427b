"""How soon a listener on one server hears what happens on another: two server processes on one PostgreSQL.

Run with `python bench/servers.py`; it prints a Markdown table. A conversation is given a new title on server A, and
clients listen on A and on B. A tells its listeners just before it answers, so the time from the answer to the notice
is how long the notice was on its way; 0 if it overtook the answer. Under load both servers run turns without a pause,
which a process of its own asks for. It needs PostgreSQL where the tests find one.
"""

import asyncio
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import httpx

from soulgraph.tests.e2e.afterglow import attentive
from soulgraph.tests.e2e.streams import told
from soulgraph.tests.live import ServerProcess, new_soul, say
from soulgraph.tests.services import postgres_schema
from soulgraph.tests.stub_openai import StubOpenAI

COUNT, PAUSE_S, TALKERS = 300, 0.02, 2
TARGET_MS = 100
_WAIT_S = 30


class Sample(NamedTuple):
    """Seconds from the request to A's answer, and from that to the notices of the listeners on A and on B."""

    answered: float
    heard_on_a: float
    heard_on_b: float


class Ear:
    """A client that listens to a soul, and knows when it heard of which change."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[float] = asyncio.Queue()
        self.ready = asyncio.Event()

    async def listen(self, url: str, soul_id: str) -> None:
        async with (
            httpx.AsyncClient(base_url=url, timeout=None, verify=False) as client,
            client.stream("GET", f"/v1/souls/{soul_id}/stream") as response,
        ):
            async for one in told(response, "listening", "session_changed"):
                if one.event == "listening":
                    self.ready.set()
                elif one.data["session_id"] == "measured":
                    self.heard.put_nowait(time.perf_counter())

    async def next(self) -> float:
        return await asyncio.wait_for(self.heard.get(), _WAIT_S)


@asynccontextmanager
async def listening(url: str, soul_id: str) -> AsyncIterator[Ear]:
    ear = Ear()
    task = asyncio.create_task(ear.listen(url, soul_id))
    try:
        await ear.ready.wait()
        yield ear
    finally:
        task.cancel()
        await asyncio.wait({task})


async def measure(urls: list[str], soul_id: str) -> list[Sample]:
    samples = []
    async with (
        httpx.AsyncClient(base_url=urls[0], timeout=60, verify=False) as client,
        listening(urls[0], soul_id) as ear_a,
        listening(urls[1], soul_id) as ear_b,
    ):
        for n in range(COUNT):
            began = time.perf_counter()
            changed = await client.patch("/v1/sessions/measured", json={"title": f"number {n}"})
            answered = time.perf_counter()
            assert changed.is_success, changed.text
            heard = [await ear.next() for ear in (ear_a, ear_b)]
            samples.append(Sample(answered - began, *(max(0.0, at - answered) for at in heard)))
            await asyncio.sleep(PAUSE_S)
    return samples


async def _talk(urls: list[str], soul_ids: list[str], turns: Connection) -> None:
    """Turns without a pause, some at a time on each server; `turns` is told of each."""

    async def converse(url: str, soul_id: str) -> None:
        async with httpx.AsyncClient(base_url=url, timeout=60, verify=False) as client:
            for n in range(sys.maxsize):
                await say(client, f"Today was day {n} at the harbour.", soul_id=soul_id, session_id=f"of-{soul_id}")
                turns.send(1)

    talkers = [(url, soul_ids.pop()) for url in urls for _ in range(TALKERS)]
    await asyncio.gather(*(converse(*one) for one in talkers))


def _load(urls: list[str], soul_ids: list[str], turns: Connection) -> None:
    asyncio.run(_talk(urls, soul_ids, turns))


@contextmanager
def loaded(urls: list[str], soul_ids: list[str]) -> Iterator[Connection]:
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_load, args=(urls, soul_ids, sending))
    process.start()
    try:
        receiving.poll(60)
        yield receiving
    finally:
        process.kill()
        process.join()


def _count(turns: Connection) -> int:
    count = 0
    while turns.poll():
        turns.recv()
        count += 1
    return count


def _serve_stub(address: Connection) -> None:
    async def serve() -> None:
        async with StubOpenAI() as stub:
            address.send(attentive(stub).base_url)
            await asyncio.Event().wait()

    asyncio.run(serve())


@contextmanager
def stub_model() -> Iterator[str]:
    """In a process of its own: what it does must not delay who measures."""
    receiving, sending = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("spawn").Process(target=_serve_stub, args=(sending,))
    process.start()
    try:
        yield receiving.recv()
    finally:
        process.kill()
        process.join()


def _row(name: str, samples: list[Sample]) -> str:
    cells = []
    for field in zip(*samples, strict=True):
        milliseconds = [1000 * value for value in field]
        cells += [statistics.median(milliseconds), statistics.quantiles(milliseconds, n=100)[98]]
    return f"| {name} | " + " | ".join(f"{cell:.1f}" for cell in cells) + " |"


async def main() -> None:
    with postgres_schema() as database_url, tempfile.TemporaryDirectory() as folder, stub_model() as base_url:
        settings = {"database_url": database_url, "llm_base_url": base_url, "llm_model": "stub", "mqtt_url": "none"}
        async with AsyncExitStack() as stack:
            servers = [
                ServerProcess(data_dir=str(Path(folder) / name), log_level="warning", **settings) for name in "ab"
            ]
            for server in servers:
                await server.start()
                stack.callback(server.kill)
            urls = [server.url for server in servers]
            async with httpx.AsyncClient(base_url=urls[0], timeout=60, verify=False) as client:
                soul_id = await new_soul(client)
                others = [await new_soul(client, f"other {n}") for n in range(2 * TALKERS)]
                await say(client, "hello", soul_id=soul_id, session_id="measured")
            idle = await measure(urls, soul_id)
            with loaded(urls, others) as turns:
                _count(turns)
                began = time.perf_counter()
                busy = await measure(urls, soul_id)
                rate = _count(turns) / (time.perf_counter() - began)
    print(f"{COUNT} notices from server A, in ms; under load {rate:.0f} turns per second on both servers together\n")
    print("| | answer p50 | p99 | after it heard on A p50 | p99 | heard on B p50 | p99 |")
    print("|---|---|---|---|---|---|---|")
    print(_row("idle", idle))
    print(_row("under load", busy))
    print(f"\nTarget: p99 on B at most {TARGET_MS} ms.")


if __name__ == "__main__":
    asyncio.run(main())
