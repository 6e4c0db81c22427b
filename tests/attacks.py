"""What a hostile or careless client does to a server, each as one call: whoever runs it looks how the server bears it.

Requests may be refused. The answers do not matter here, and neither does a connection that is closed.
"""

import asyncio
import json
import random
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml

from soulgraph.terminals.mqtt_packets import Connect, Publish, Subscribe, Subscription
from soulgraph.tests.library.cards.samples import DECORATED, V3, as_bytes, charx, chunk, png
from soulgraph.tests.live import new_soul, say
from soulgraph.tests.stub_openai import Reply, StubOpenAI

LONG = "y" * 400_000
MAX_TEXT = 8000
_INJECTIONS = yaml.safe_load((Path(__file__).parent / "prompts" / "injections.yaml").read_text("utf-8"))
_TIMESTAMP = "2025-10-13T10:30:00Z"


@dataclass
class Attacked:
    """A server that speaks through a stub of a model, with an embedded broker, and what is known of it."""

    url: str
    folder: Path
    mqtt_port: int
    stub: StubOpenAI
    soul_id: str = ""

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=self.url, timeout=120, verify=False, limits=limits) as client:
            if not self.soul_id:
                self.soul_id = await new_soul(client, "attacked")
                await say(client, "Hello.", soul_id=self.soul_id)
            yield client

    @property
    def address(self) -> tuple[str, int]:
        where = urlsplit(self.url)
        return str(where.hostname), int(where.port or 80)


Attack = Callable[[Attacked], Awaitable[None]]


async def nothing(server: Attacked) -> None:
    """For comparison."""
    async with server.client():
        await asyncio.sleep(3)


async def long_messages(server: Attacked) -> None:
    """Imports with a message that is one letter, in both formats, and a turn after it."""
    line = {"role": "user", "content": LONG, "timestamp": _TIMESTAMP}
    transcript = "\n".join(map(json.dumps, ({"type": "metadata"}, line, {**line, "role": "assistant"})))
    message = {"uuid": "m", "sender": "human", "text": LONG, "created_at": _TIMESTAMP}
    chat = [{"uuid": "u", "name": LONG, "created_at": _TIMESTAMP, "chat_messages": [message]}]
    async with server.client() as client:
        sent = await client.post("/v1/sessions/import", params={"soul_id": server.soul_id}, content=transcript)
        await client.post(f"/v1/souls/{server.soul_id}/import-chats", json=chat)
        if sent.is_success:
            session_id = sent.json()["session_id"]
            await client.post("/v1/chat", json={"text": "And then?", "session_id": session_id})
            await client.post(f"/v1/sessions/{session_id}/update-memory")
            await client.get(f"/v1/souls/{server.soul_id}/recall", params={"q": LONG[:MAX_TEXT]})
        await client.post("/v1/chat", json={"text": LONG[:MAX_TEXT], "soul_id": server.soul_id})


async def resent_conversations(server: Attacked) -> None:
    """What front ends resend, of which patterns make the most: blanks, lines, headings, beginnings of prompts."""
    texts = [
        (one * MAX_TEXT)[:12_000] for one in (" ", "\n", "\n\n", "### ", "你是一个", "you are a ", "好", "User: hi\n")
    ]
    async with server.client() as client:
        for text in texts:
            lines = [{"role": "system", "content": text}, *[{"role": "user", "content": text}] * 20]
            body = {"model": f"soul:{server.soul_id}", "messages": [*lines, {"role": "user", "content": f"{text} x"}]}
            await client.post("/v1/chat/completions", json=body)


async def long_answers(server: Attacked) -> None:
    """A model that does not stop: in its narrative, in its state update, before any tag, in a tool call, in calls."""
    update = json.dumps({"dynamic_state": {"emotions": {"add": [{"content": LONG, "priority": 5}]}}})
    texts = (
        f"<narrative>{LONG}</narrative><state_update_json>{{}}</state_update_json>",
        f"<narrative>Hm.</narrative><state_update_json>{update}</state_update_json>",
        f"{'<' * 400_000}",
        f"<narrative>{'</narrativ' * 40_000}",
    )
    replies = [Reply(text=text, chunk_size=2000) for text in texts]
    calls = [{"name": "remember", "arguments": text} for text in (json.dumps({"fact": LONG}), LONG)]
    many = [{"name": "recall_memory", "arguments": {"query": "bees"}}] * 10_000
    replies += [Reply(tool_calls=asked, chunk_size=2000) for asked in (calls[:1], calls[1:], many)]
    async with server.client() as client:
        for reply in replies:
            server.stub.script(reply)
            await client.post("/v1/chat", json={"text": "Tell me a story", "soul_id": server.soul_id})


def catalog(intents: int, examples: int) -> list[dict[str, Any]]:
    """Every example is another sentence, so that none was ever compared before."""
    chance = random.Random()
    words = lambda: " ".join(chance.choices(_WORDS, k=6)) + f" {chance.getrandbits(40)}"  # noqa: E731
    return [
        {"id": f"i{n}", "name": f"intent {n}", "match": {"examples": [words() for _ in range(examples)]}}
        for n in range(intents)
    ]


_WORDS = ("turn", "set", "open", "close", "play", "the", "a", "lamp", "door", "music", "louder", "in", "kitchen", "now")


async def large_catalogs(server: Attacked) -> None:
    """Filters with 1,500 and 10,000 examples, several at once, from clients who do not wait for long."""
    bodies = [
        {"text": "turn on the lamp in the kitchen", "intent_catalog": catalog(n, 10)} for n in (150, 150, 150, 1000)
    ]
    async with server.client() as client:
        asked = (client.post("/v1/intents/filter", json=body, timeout=15) for body in bodies)
        await asyncio.gather(*asked, return_exceptions=True)


async def _throw(port: int, packets: Iterable[bytes]) -> None:
    """Send packets to the broker for as long as it takes them."""
    with suppress(OSError, asyncio.TimeoutError):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            async with asyncio.timeout(10):
                for packet in packets:
                    writer.write(packet)
                    await writer.drain()
                await reader.read(1)
        finally:
            writer.close()


async def broker_flood(server: Attacked) -> None:
    """Large packets, thousands of retained ones, many clients, and many who listen to everything."""
    listen = Subscribe(1, (Subscription("#", 1), Subscription("soul/terminal/#", 1))).encode()
    large = [Publish(f"soul/terminal/t{n}/skills", b"x" * 250_000, retain=True).encode() for n in range(40)]
    small = [Publish(f"soul/terminal/t{n}/online", b"online", retain=True).encode() for n in range(3000)]
    inputs = [Publish("soul/terminal/t/input", b'{"input_id":"i","text":"hi"}').encode()] * 3000
    floods = [large, small, inputs, [b"\x30\xff\xff\xff\x7f" + b"x" * 4_000_000]]
    crowd = [[Connect(f"crowd{n}", 60).encode(), listen] for n in range(200)]
    attackers = [[Connect(f"flood{n}", 60).encode(), *flood] for n, flood in enumerate(floods)]
    async with server.client():
        await asyncio.gather(*(_throw(server.mqtt_port, packets) for packets in (*crowd, *attackers)))


async def damaged_memory(server: Attacked) -> None:
    """The folder of the events is damaged under a server that runs; then it is asked to remember."""
    async with server.client() as client:
        for path in (server.folder / "chroma").rglob("*"):
            if path.is_file():
                path.write_bytes(b"damaged" * 1000)
        for n in range(5):
            await client.post("/v1/chat", json={"text": f"Do you remember {n}?", "soul_id": server.soul_id})
            await client.get(f"/v1/souls/{server.soul_id}/recall", params={"q": "bees"})
            await client.get("/v1/events", params={"q": "bees"})


def _cards() -> list[bytes]:
    book = {"extensions": {}, "entries": [{**DECORATED, "keys": ["(?:a|b)+c"] * 20}] * 400}
    deep = b'{"a": ' * 200_000
    number = b'{"name": "x", "description": ' + b"9" * 1_000_000 + b"}"
    data = {**V3["data"], "character_book": book}
    bomb = chunk(b"zTXt", b"ccv3\0\0" + zlib.compress(b"A" * 50_000_000))
    long_text = {**V3["data"], "description": "{{char}}" * 200_000}
    return [
        as_bytes({**V3, "data": data}),
        as_bytes({**V3, "data": long_text}),
        deep,
        number,
        png(bomb),
        charx([("card.json", b" " * 60_000_000)]),
        b'{"name": "' + b"\\ud800" * 200_000 + b'"}',
    ]


async def absurd_cards(server: Attacked) -> None:
    """Cards that are deep, large, packed or full of patterns and halves of characters."""
    cards = await asyncio.to_thread(_cards)
    async with server.client() as client:
        await asyncio.gather(*(client.post("/v1/characters/import", content=card) for card in cards))


async def many_decisions(server: Attacked) -> None:
    """Many turns of the longest kind one after the other, each with its lines of telemetry, in a file that is full."""
    async with server.client() as client:
        with (server.folder / "telemetry.jsonl").open("ab") as file:
            file.write(b'{"event": "x"}\n' * 1_400_000)
        for n in range(30):
            text = f"{n} 我今天很难过，请记住我叫小林。 Remind me tomorrow at seven to call. " * 100
            await client.post("/v1/chat", json={"text": text[:MAX_TEXT], "soul_id": server.soul_id})


async def crowd(server: Attacked) -> None:
    """A turn in each of 128 sessions at once, and 300 clients who never finish their headers."""

    async def dawdle() -> None:
        with suppress(OSError, asyncio.TimeoutError):
            reader, writer = await asyncio.open_connection(*server.address)
            try:
                async with asyncio.timeout(8):
                    for byte in b"GET /v1/souls HTTP/1.1\r\nX-Slow: ":
                        writer.write(bytes([byte]))
                        await asyncio.sleep(0.2)
                    await reader.read(1)
            finally:
                writer.close()

    async with server.client() as client:
        turns = [
            client.post("/v1/chat", json={"text": "Good morning!", "soul_id": server.soul_id, "session_id": f"c{n}"})
            for n in range(128)
        ]
        await asyncio.gather(*turns, *(dawdle() for _ in range(300)))


async def look_alikes(server: Attacked) -> None:
    """Injections of the greatest length, in words, in names, in files and in what the model says."""
    texts = ["\n".join(kind * 300)[:MAX_TEXT] for kind in _INJECTIONS.values()]
    texts += [mark * MAX_TEXT for mark in ("-", "—", "─", "<", "＜", "\u200b-", "\u0338")]
    async with server.client() as client:
        for text in texts:
            server.stub.script(Reply(text=f"<narrative>{text * 5}</narrative>", chunk_size=500))
            await client.post("/v1/chat", json={"text": text[:MAX_TEXT], "soul_id": server.soul_id})
        lore = {"extensions": {}, "entries": [{**DECORATED, "content": text, "use_regex": False} for text in texts]}
        card = {**V3, "data": {**V3["data"], "description": "".join(texts)[:100_000], "character_book": lore}}
        await client.post("/v1/characters/import", content=as_bytes(card))


async def garbage(server: Attacked) -> None:
    """Bodies that are no JSON, too deep, too large or of another type, on every path that takes one."""
    bodies = [
        b"[" * 500_000,
        b'{"a":' * 150_000,
        b"\xff" * 900_000,
        b'{"text": ' + b"1" * 900_000 + b"}",
        b"[]" * 400_000,
    ]
    bodies += [json.dumps({"text": "x", **{f"k{n}": n for n in range(60_000)}}).encode()]
    async with server.client() as client:
        described = (await client.get("/openapi.json")).json()["paths"]
        paths = [
            (method, path) for path, methods in described.items() for method in methods if method in ("post", "put")
        ]
        chosen = random.Random(1).sample(sorted(paths), 25)
        for (method, path), body in zip(chosen, bodies * 5, strict=False):
            filled = path.replace("{soul_id}", server.soul_id).replace("{n}", "1").replace("{", "").replace("}", "")
            with suppress(httpx.TransportError):
                await client.request(method, filled, content=body, headers={"Content-Type": "application/json"})


ATTACKS: dict[str, Attack] = {
    attack.__name__.replace("_", " "): attack
    for attack in (
        long_messages,
        resent_conversations,
        long_answers,
        large_catalogs,
        broker_flood,
        absurd_cards,
        many_decisions,
        crowd,
        look_alikes,
        garbage,
        damaged_memory,
    )
}
"""In the order in which they are run: after the last one the server has lost its memory of events."""
