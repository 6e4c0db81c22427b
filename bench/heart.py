"""What happens after the reply must not be felt: long conversations, and two servers that share the work.

Run with `python bench/heart.py`; it prints Markdown tables. The model is the stub of the tests, over HTTP. The latency
is that of whole HTTP requests to a server process, while events are drawn and reflections made in the background;
early and late turns are of the same runs. The second part needs PostgreSQL where the tests find one.
"""

import asyncio
import statistics
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import httpx

from soulgraph.bench.made_up import talk
from soulgraph.tests.e2e.afterglow import REFLECTS, attentive, reflection, settled
from soulgraph.tests.live import ServerProcess, new_soul, say, serving
from soulgraph.tests.services import postgres_schema
from soulgraph.tests.stub_openai import StubOpenAI

TURNS, RUNS, WINDOW = 200, 5, 10
EARLY, LATE = slice(5, 5 + WINDOW), slice(TURNS - WINDOW, TURNS)
SESSIONS, ROUNDS = 10, 50
LATENCY_TARGET = 1.2
VOICE = {"llm_model": "stub", "llm_carrier": "tags"}
CONTRACT = (b"OUTPUT CONTRACT", "输出约定".encode())


async def conversation(stub: StubOpenAI, folder: Path, seed: int) -> tuple[list[float], list[int], int]:
    """How long each turn took, how long its prompt was, and how many events were drawn."""
    seconds, characters = [], []
    server = ServerProcess(data_dir=str(folder), llm_base_url=stub.base_url, log_level="warning", **VOICE)
    await server.start()
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        soul_id = await new_soul(client)
        for n in range(5):  # the first event brings Chroma, whose import takes a second
            await say(client, f"hello {n}", soul_id=soul_id, session_id="warm")
        await settled(client)
        for line in talk(TURNS, seed):
            began = time.perf_counter()
            await say(client, line, soul_id=soul_id, session_id="s")
            seconds.append(time.perf_counter() - began)
            sent = next(one for one in reversed(stub.requests) if any(words in one.raw for words in CONTRACT))
            characters.append(sum(len(message["content"]) for message in sent.body["messages"]))
        await settled(client)
        events = len((await client.get("/v1/events", params={"limit": 200})).json())
    server.stop()
    return seconds, characters, events


async def long_conversation() -> None:
    early, late, sizes, drawn = [], [], [], []
    for run in range(RUNS):
        async with StubOpenAI() as stub:
            with tempfile.TemporaryDirectory() as folder:
                seconds, characters, events = await conversation(attentive(stub), Path(folder), run)
        early += seconds[EARLY]
        late += seconds[LATE]
        sizes.append((max(characters[EARLY]), max(characters[LATE])))
        drawn.append(events)
    first, last = statistics.median(early) * 1000, statistics.median(late) * 1000
    verdict = "met" if last / first <= LATENCY_TARGET else "MISSED"
    print(f"| {TURNS} turns, {RUNS} conversations | turns 6 to 15 | turns 191 to 200 | ratio |\n|---|---|---|---|")
    ratio = f"{last / first:.2f} (target: {LATENCY_TARGET}, {verdict})"
    print(f"| reply latency p50, ms | {first:.1f} | {last:.1f} | {ratio} |")
    before, after = (max(pair[at] for pair in sizes) for at in (0, 1))
    print(f"| longest prompt, characters | {before} | {after} | {after / before:.2f} |")
    print(f"\nEvents drawn in each conversation: {', '.join(map(str, drawn))}\n")


async def shared_work() -> None:
    async with AsyncExitStack() as stack:
        stub = attentive(await stack.enter_async_context(StubOpenAI()))
        thoughts = count()  # one that was thought before would not be kept
        stub.when(REFLECTS, lambda _: reflection(f"I have thought of them {next(thoughts)} times."))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = stack.enter_context(postgres_schema())
        settings = {"database_url": url, "data_dir": folder, "llm_base_url": stub.base_url, **VOICE}
        servers = [await stack.enter_async_context(serving(**settings)) for _ in range(2)]
        souls = [await new_soul(servers[0], f"soul {n}") for n in range(SESSIONS)]

        async def converse(n: int) -> None:
            for turn in range(ROUNDS):
                await say(servers[turn % 2], f"topic {n:02d}, turn {turn}", soul_id=souls[n], session_id=f"s{n}")

        began = time.perf_counter()
        await asyncio.gather(*(converse(n) for n in range(SESSIONS)))
        talked = time.perf_counter() - began
        await settled(servers[0])
        rested = time.perf_counter() - began - talked
        jobs = (await servers[0].get("/v1/jobs", params={"limit": 500})).json()
        reflected = [len((await servers[0].get(f"/v1/souls/{s}/inner-state/versions")).json()) - 1 for s in souls]
    print(f"| two servers, {SESSIONS * ROUNDS} turns | |\n|---|---|")
    print(f"| seconds for the turns, and after the last reply until all work was done | {talked:.1f}, {rested:.1f} |")
    print(f"| jobs by status | {dict(Counter(job['status'] for job in jobs))} |")
    print(f"| jobs that needed more than one attempt | {sum(job['attempts'] > 1 for job in jobs)} |")
    print(f"| reflections of each soul (wanted: {ROUNDS // 5}) | {sorted(set(reflected))} |")


async def main() -> None:
    await long_conversation()
    await shared_work()


if __name__ == "__main__":
    asyncio.run(main())
