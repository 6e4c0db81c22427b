"""What streaming costs: processor time of the server for a token, and time that it adds to the first word.

Run with `make bench` or `python bench/streaming.py`; it prints Markdown tables. The model is a process of its own, and
so are the server and the relay that it is compared with: uvicorn and Starlette, which pass on the same stream.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route

from soulgraph.bench.turn import SAYING, SOUL_TURN, stub_model
from soulgraph.tests.live import ServerProcess, free_port, hear, new_soul, until_ready

PLACES = ("river", "old bridge", "market", "rain", "willows", "boats", "harbour", "way home", "bakery", "last bus")
LINES = [
    f"On day {n} I passed {place} number {n * 37} and counted {n * n} birds." for n, place in enumerate(PLACES * 3)
]
LONG = SOUL_TURN.replace("Tell me more.", " ".join(LINES))
SHORT = SOUL_TURN.replace("Tell me more.", " ".join(f"Tell me of the {place}." for place in PLACES))
TOKEN_CHARS, TOKEN_S, STREAMS, ROUNDS = 4, 0.02, 20, 3
TOKENS = len(LONG) / TOKEN_CHARS
FIRST_WORDS = {20: 0.05, 200: 0.4}
"""Live streams, and seconds between their pieces: so many that turns begin at the same pace."""
MAX_TURNS = "400"

Stream = Callable[[int], AsyncIterator[str]]


class Waits(NamedTuple):
    """Milliseconds to the first word, and the longest of each stream between two pieces of it."""

    first: list[float]
    gaps: list[float]


def asked() -> dict[str, Any]:
    return {"model": "stub", "stream": True, "messages": [{"role": "user", "content": SAYING}]}


async def model_pieces(client: httpx.AsyncClient, base_url: str) -> AsyncIterator[str]:
    """What the stub says, asked without anything between."""
    async with client.stream("POST", f"{base_url}/chat/completions", json=asked()) as response:
        async for line in response.aiter_lines():
            if line.startswith("data: {") and (choices := json.loads(line[6:])["choices"]):
                yield choices[0]["delta"].get("content", "")


def relay_app(base_url: str) -> Starlette:
    """The least that passes a model's stream on to a browser."""
    client = httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None))

    async def chat(request: Request) -> StreamingResponse:
        async def events() -> AsyncIterator[str]:
            async for piece in model_pieces(client, base_url):
                yield f"event: token\ndata: {json.dumps({'text': piece})}\n\n"

        await request.json()
        return StreamingResponse(events(), media_type="text/event-stream")

    async def ready(_: Request) -> PlainTextResponse:
        return PlainTextResponse("ready")

    return Starlette(routes=[Route("/chat", chat, methods=["POST"]), Route("/readyz", ready)])


@contextmanager
def relay_process(base_url: str, port: int) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, __file__, "relay", base_url, str(port)])
    try:
        yield process.pid
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def relay(base_url: str) -> AsyncIterator[tuple[Stream, int]]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with relay_process(base_url, port) as pid:
        await until_ready(url, lambda: True)
        async with _client(url) as client:

            async def stream(_: int) -> AsyncIterator[str]:
                async with client.stream("POST", "/chat", json=asked()) as response:
                    async for line in response.aiter_lines():
                        if line.startswith("data: "):
                            yield json.loads(line[6:])["text"]

            yield stream, pid


@asynccontextmanager
async def soulgraph(base_url: str, streams: int) -> AsyncIterator[tuple[Stream, int]]:
    sessions = count()  # each turn in one of its own: a soul that said the same twice would be asked again
    with tempfile.TemporaryDirectory() as home:
        model = {"llm_base_url": base_url, "llm_model": "stub", "llm_carrier": "tags"}
        server = ServerProcess(data_dir=home, max_turns=MAX_TURNS, mqtt_url="none", **model)
        await server.start()
        try:
            async with _client(server.url) as client:
                souls = [await new_soul(client, f"soul {n}") for n in range(streams)]

                async def stream(n: int) -> AsyncIterator[str]:
                    async for event, data in hear(client, SAYING, soul_id=souls[n], session_id=f"s{next(sessions)}"):
                        yield data["text"] if event == "token" else ""

                yield stream, server.pid
        finally:
            server.stop()


def _client(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=60, limits=httpx.Limits(max_connections=None), verify=False)


def cpu_s(pid: int) -> float:
    """Seconds of processor time that a process has used, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def cpu_of_round(stream: Stream, pid: int) -> float:
    """Milliseconds of the server for one answer, of many at once, and for what follows it."""

    async def listen(n: int) -> None:
        async for _ in stream(n):
            pass

    before = cpu_s(pid)
    await asyncio.gather(*map(listen, range(STREAMS)))
    await asyncio.sleep(2)
    return (cpu_s(pid) - before) * 1e3 / STREAMS


async def token_costs() -> None:
    """The same answer in pieces and in one: what differs is the cost of its tokens."""
    whole, pieces = {"text": LONG, "chunk_size": len(LONG)}, {"text": LONG, "chunk_size": TOKEN_CHARS}
    spent: dict[str, dict[str, list[float]]] = {"soulgraph": {}, "relay": {}}
    with stub_model(**whole) as at_once, stub_model(**pieces, chunk_delay_s=TOKEN_S) as by_token:
        for kind, base_url in {"whole": at_once, "streamed": by_token}.items():
            async with soulgraph(base_url, STREAMS) as ours, relay(base_url) as bare:
                for n in range(-1, ROUNDS):
                    for name, (stream, pid) in {"soulgraph": ours, "relay": bare}.items():
                        cost = await cpu_of_round(stream, pid)
                        if n >= 0:
                            spent[name].setdefault(kind, []).append(cost)
    print(f"| CPU of the server, {STREAMS} at once | answer of {TOKENS:.0f} tokens | in one piece | ms a token |")
    print("|---|---|---|---|")
    tokens = {}
    for name, costs in spent.items():
        streamed, one = statistics.median(costs["streamed"]), statistics.median(costs["whole"])
        tokens[name] = (streamed - one) / TOKENS
        print(f"| {name} | {streamed:.1f} | {one:.1f} | {tokens[name]:.3f} |")
    print(f"| ratio | | | {tokens['soulgraph'] / tokens['relay']:.2f} |\n")


async def waits(stream: Stream, streams: int, length_s: float) -> Waits:
    """Over streams that are always under way, and begin one after the other."""
    found = Waits([], [])

    async def keep_listening(n: int) -> None:
        await asyncio.sleep(n / streams * length_s)
        for _ in range(ROUNDS):
            began = last = time.perf_counter()
            gap, text = 0.0, ""
            async for piece in stream(n):
                now = time.perf_counter()
                if piece and text:
                    gap = max(gap, now - last)
                elif piece:
                    found.first.append((now - began) * 1e3)
                text, last = text + piece, now
            found.gaps.append(gap * 1e3)

    await asyncio.gather(*(keep_listening(n) for n in range(streams)))
    return found


async def added_latency(streams: int, piece_s: float) -> None:
    length_s = piece_s * len(SHORT) / 16
    async with _client("") as client:
        with stub_model(text=SHORT, chunk_size=16, chunk_delay_s=piece_s) as base_url:
            async with soulgraph(base_url, streams) as (ours, _):
                await waits(ours, min(streams, 20), 1)
                measured = {
                    "bare stub": await waits(lambda _: model_pieces(client, base_url), streams, length_s),
                    "soulgraph": await waits(ours, streams, length_s),
                }
    pace = f"{streams} live streams, a piece every {piece_s * 1e3:.0f} ms"
    print(f"| {pace} | first word p50 ms | p95 | longest gap p50 | p95 |")
    print("|---|---|---|---|---|")
    for name, found in measured.items():
        print(
            f"| {name} | {_middle(found.first)} | {_high(found.first)} | {_middle(found.gaps)} | {_high(found.gaps)} |"
        )
    added = statistics.median(measured["soulgraph"].first) - statistics.median(measured["bare stub"].first)
    print(f"| added | {added:.1f} | | | |\n")


def _middle(values: list[float]) -> str:
    return f"{statistics.median(values):.1f}"


def _high(values: list[float]) -> str:
    return f"{statistics.quantiles(values, n=20)[-1]:.1f}"


async def main() -> None:
    await token_costs()
    for streams, piece_s in FIRST_WORDS.items():
        await added_latency(streams, piece_s)


if __name__ == "__main__":
    if sys.argv[1:2] == ["relay"]:
        uvicorn.run(relay_app(sys.argv[2]), port=int(sys.argv[3]), log_level="error")
    else:
        uvloop.run(main())
