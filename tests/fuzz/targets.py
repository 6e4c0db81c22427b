"""The entrances that are fuzzed, each with what must hold for the answer."""

import asyncio
import json
from random import Random
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from soulgraph.cli.client import events
from soulgraph.terminals.mqtt_framing import Kind, Packet
from soulgraph.terminals.mqtt_packets import Connect
from soulgraph.tests.fuzz import seeds
from soulgraph.tests.fuzz.harness import Target, Wrong
from soulgraph.tests.fuzz.world import World

_FILE_NAMES = ("conversations.json", "chat.jsonl", "export.zip", "MEMORY.md", "a/../b.json", "")
_REFUSALS = {1002, 1007, 1008, 1009}
"""With these codes the server may close a socket for what came over it."""
_BROKEN_BY_BROKER = 1011
_QUIET_S = 0.01


def _outcome(answer: httpx.Response) -> str:
    """`taken`, or the code of the problem."""
    if answer.is_success:
        return "taken"
    if answer.status_code >= 500:
        raise Wrong(f"{answer.status_code}: {answer.text[:500]}")
    try:
        problem = answer.json()
    except ValueError:
        raise Wrong(f"{answer.status_code} without a problem: {answer.text[:200]!r}") from None
    return str(problem.get("code") or problem["error"]["code"])


async def _cleared(world: World, path: str) -> None:
    gone = await world.client.delete(path)
    if not gone.is_success:
        raise Wrong(f"what was taken in cannot be deleted: {path}: {gone.status_code} {gone.text[:300]}")


async def _readable(world: World, path: str) -> httpx.Response:
    read = await world.client.get(path)
    if not read.is_success:
        raise Wrong(f"what was taken in cannot be read: {path}: {read.status_code} {read.text[:300]}")
    return read


async def _card(world: World, mutant: bytes, random: Random) -> str:
    answer = await world.client.post("/v1/characters/import", content=mutant)
    outcome = _outcome(answer)
    if outcome == "taken":
        path = f"/v1/characters/{answer.json()['id']}"
        await _readable(
            world,
            random.choice((path, f"{path}/card", f"{path}/card?format=png&spec=v2", f"{path}/lore", f"{path}/mbti")),
        )
        await _cleared(world, path)
    return outcome


_SHELF = "/v1/characters/shelf"


async def _lorebook(world: World, mutant: bytes, _: Random) -> str:
    """What was taken in is lore that can be sent back as it is."""
    await world.client.put(_SHELF, json={"name": "Lumen"})
    outcome = _outcome(await world.client.post(f"{_SHELF}/lore/import", content=mutant))
    if outcome == "taken":
        lore = await _readable(world, f"{_SHELF}/lore")
        if _outcome(await world.client.put(f"{_SHELF}/lore", json=lore.json())) != "taken":
            raise Wrong(f"what was taken in cannot be sent back: {lore.text[:300]}")
    await _cleared(world, _SHELF)
    return outcome


async def _pack(world: World, mutant: bytes, _: Random) -> str:
    """What was stored can be shown."""
    await world.client.put(_SHELF, json={"name": "Lumen"})
    answer = await world.client.post(f"{_SHELF}/images/import", content=mutant)
    outcome = _outcome(answer)
    for image in answer.json()["images"] if outcome == "taken" else ():
        await _readable(world, f"{_SHELF}/images/{image['name']}")
    await _cleared(world, _SHELF)
    return outcome


async def _transcript(world: World, mutant: bytes, random: Random) -> str:
    where = {"soul_id": world.soul_id}
    answer = await world.client.post("/v1/sessions/import", params=where, content=mutant)
    outcome = _outcome(answer)
    if outcome == "taken":
        path = f"/v1/sessions/{answer.json()['session_id']}"
        again = await _readable(world, f"{path}/export")
        await _readable(world, f"{path}/messages")
        if random.random() < 0.1:
            copy = await world.client.post("/v1/sessions/import", params=where, content=again.content)
            if _outcome(copy) != "taken":
                raise Wrong(f"what was exported is not taken again: {copy.text[:300]}")
            await _cleared(world, f"/v1/sessions/{copy.json()['session_id']}")
        await _cleared(world, path)
    return outcome


async def _chat(world: World, mutant: bytes, random: Random) -> str:
    params: dict[str, Any] = {"filename": random.choice(_FILE_NAMES), "dry_run": random.random() < 0.5}
    path = f"/v1/souls/{world.soul_id}/import-chats"
    answer = await world.client.post(path, params=params, content=mutant)
    outcome = _outcome(answer)
    if outcome == "taken" and not params["dry_run"]:
        last = list(events([answer.text]))[-1]
        if last.name == "error":
            if last.data["status"] >= 500:
                raise Wrong(f"the import ended with {last.data}")
            return "taken in part"
    return outcome


async def _catalog(world: World, mutant: bytes, _: Random) -> str:
    headers = {"Content-Type": "application/json"}
    return _outcome(await world.client.post("/v1/intents/filter", content=mutant, headers=headers))


async def _soul(world: World, mutant: bytes, random: Random) -> str:
    """What was taken in can talk, and can be exported and deleted."""
    answer = await world.client.post("/v1/souls/import", params={"name": "mutant"}, content=mutant)
    outcome = _outcome(answer)
    if outcome == "taken":
        soul_id = answer.json()["soul_id"]
        parts = ("", "/emotion", "/export", "/relations?user_id=ann", "/facts", "/profile", "/preferences", "/slots")
        await _readable(world, f"/v1/souls/{soul_id}{random.choice(parts)}")
        if random.random() < 0.2:
            said = {"soul_id": soul_id, "text": "Do you remember my bees?", "user_id": "ann"}
            _outcome(await world.client.post("/v1/chat", json=said))
        await _cleared(world, f"/v1/souls/{soul_id}")
    return outcome


async def _message(world: World, mutant: bytes, _: Random) -> str:
    """Given to the inbox as the hub does, and waited for: what makes no sense is dropped and counted."""
    hub = world.services.context.outlets.hub
    receive = hub._on_message
    inbox = receive.__self__
    dropped = world.services.metrics.dropped
    before = dropped._value.get()
    topic, _, payload = mutant.partition(b"\n")
    receive(topic.decode(errors="replace"), payload)
    while inbox._queue:
        await asyncio.sleep(0.001)
    await world.idle()
    return "dropped" if dropped._value.get() > before else "taken"


async def _frame(world: World, mutant: bytes, random: Random) -> str:
    """A frame, as text or as bytes, and then a ping, which must be answered unless the socket was closed for it."""
    socket = await _open_socket(world, "chat/ws")
    outcome = "taken"
    try:
        await socket.send(mutant.replace(seeds.SOUL.encode(), world.soul_id.encode()), text=random.random() < 0.7)
        await socket.send('{"type":"ping"}')
        while (frame := json.loads(await socket.recv()))["event"] != "pong":
            if frame["event"] == "error":
                outcome = _problem_code(frame["data"])
    except ConnectionClosed as closed:
        outcome = _close_code(closed, _REFUSALS)
        await asyncio.sleep(_QUIET_S)  # what the server does about it belongs to this mutant
    await world.idle()
    return outcome


def _problem_code(problem: dict[str, Any]) -> str:
    if problem["status"] >= 500:
        raise Wrong(f"a frame was answered with {problem}")
    return str(problem["code"])


def _close_code(closed: ConnectionClosed, allowed: set[int]) -> str:
    if closed.rcvd is None or closed.rcvd.code not in allowed:
        raise Wrong(f"the socket was closed with {closed.rcvd}")
    return f"closed {closed.rcvd.code}"


async def _open_socket(world: World, path: str) -> ClientConnection:
    """The one of before, or another if that was closed."""
    socket = world.kept.get(path)
    if socket is None or socket.close_code is not None:
        socket = await connect(f"ws://{world.client.base_url.netloc.decode()}/v1/{path}", proxy=None, max_size=None)
        world.kept[path] = socket
    return socket


async def _packet(world: World, mutant: bytes, random: Random) -> str:
    """Packets through the tunnel in frames of any size; the broker may end the connection over them as well."""
    stream = mutant if random.random() < 0.2 else Connect(f"page{random.random()}", 60).encode() + mutant
    stream += Packet(Kind.PINGREQ, 0, b"").encode()
    cut = random.randrange(len(stream) + 1)
    url = f"ws://{world.client.base_url.netloc.decode()}/v1/mqtt"
    async with connect(url, proxy=None, subprotocols=["mqtt"]) as socket:
        try:
            for part in (stream[:cut], stream[cut:]):
                await socket.send(part)
            async with asyncio.timeout(_QUIET_S):
                while True:
                    await socket.recv()
        except TimeoutError:
            return "taken"
        except ConnectionClosed as closed:
            return _close_code(closed, {*_REFUSALS, 1000, _BROKEN_BY_BROKER})


TARGETS = {
    target.name: target
    for target in (
        Target("cards", seeds.cards, _card),
        Target("lorebooks", seeds.lorebooks, _lorebook),
        Target("packs", seeds.packs, _pack),
        Target("transcripts", seeds.transcripts, _transcript),
        Target("chats", seeds.chats, _chat),
        Target("souls", seeds.soul_files, _soul),
        Target("catalogs", seeds.catalogs, _catalog),
        Target("mqtt", seeds.mqtt_messages, _message, all_or_nothing=False),
        Target("frames", seeds.chat_frames, _frame, all_or_nothing=False),
        Target("packets", seeds.tunnel_packets, _packet, all_or_nothing=False),
    )
}
