"""Many turns over one socket of a real server, and what is heard on it between them."""

import asyncio
import json
import socket
from contextlib import ExitStack

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from soulgraph.api import websocket
from soulgraph.cli.hosting import hosted
from soulgraph.runtime.ports import open_stores
from soulgraph.settings import Settings
from soulgraph.tests.e2e.sockets import line
from soulgraph.tests.live import hear, new_soul, serving, transcript
from soulgraph.tests.stub_openai import SOUL_TURN, Reply
from soulgraph.voices import wire


def grown(feeling):
    """An answer of the model that changes the soul's profile."""
    added = {"dynamic_state": {"emotions": {"add": [{"content": feeling, "priority": 8}]}}}
    return Reply(text=SOUL_TURN.replace("{}", json.dumps(added)))


async def refusal(client, **options):
    with pytest.raises(InvalidStatus) as refused:
        async with line(client, **options):
            pass
    response = refused.value.response
    return response.status_code, json.loads(response.body)["code"]


async def test_a_turn_has_the_events_of_a_stream_and_many_follow_each_other(client):
    soul_id = await new_soul(client)
    async with line(client) as one:
        await one.chat("hello", soul_id=soul_id, session_id="s", input_id="a")
        frames = await one.until("done")
        assert {(frame["session_id"], frame["input_id"]) for frame in frames} == {("s", "a")}
        answer = frames[-1]["data"]
        assert "".join(frame["data"]["text"] for frame in frames if frame["event"] == "token") == answer["reply"]
        streamed = [event async for event, _ in hear(client, "hello", soul_id=soul_id, session_id="t")]
        assert [frame["event"] for frame in frames] == streamed

        await one.send(type="chat", inputs=[{"text": "again", "input_id": "b"}], soul_id=soul_id, session_id="s")
        assert (await one.until("done"))[-1]["input_id"] == "b"
        await one.chat("whatever", soul_id=soul_id, session_id="s", input_id="a")
        assert (await one.until("done"))[-1]["data"] == answer
        await one.send(type="ping")
        assert await one.frame() == {"event": "pong", "data": {}}
    assert [role for role, _ in await transcript(client, "s")] == ["user", "assistant"] * 2


async def test_turns_under_way_at_once_are_told_apart(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.default = Reply(text=SOUL_TURN, chunk_delay_s=0.01)
    async with line(modelled) as one:
        for name in ("a", "b", "c"):
            await one.chat(f"I am {name}", soul_id=soul_id, session_id=name, input_id=f"in-{name}")
        frames = []
        while sum(frame["event"] == "done" for frame in frames) < 3:
            frames.append(await one.frame())
    order = [frame["input_id"] for frame in frames]
    assert order != sorted(order), "they ran side by side"
    for name in ("a", "b", "c"):
        mine = [frame for frame in frames if frame["input_id"] == f"in-{name}"]
        assert {frame["session_id"] for frame in mine} == {name}
        assert "".join(frame["data"]["text"] for frame in mine if frame["event"] == "token") == "I hear you."
        assert mine[-1]["data"]["session_id"] == name


async def test_nonsense_is_answered_and_the_socket_stays_open(client):
    soul_id = await new_soul(client)
    async with line(client) as one:
        for raw in ("", "{", "[]", "7", '"x"', b"\xff", "[" * 5000, '{"type": "chat", "text": "\\ud800"}'):
            await one.socket.send(raw)
            frame = await one.frame()
            assert (frame["event"], frame["data"]["code"]) == ("error", "invalid_input"), raw
        for message in ({}, {"type": "shout"}, {"type": "ping", "x": 1}, {"type": "chat"}, {"type": ["chat"]}):
            assert (await one.refused(**message))["data"]["code"] == "invalid_input"
        long = await one.refused(type="chat", text="x" * 8001, soul_id=soul_id, input_id="a")
        assert (long["input_id"], long["data"]["errors"][0]["where"]) == ("a", "chat.text")
        stranger = await one.refused(type="chat", text="hi", soul_id="nobody", session_id="s", input_id="b")
        assert (stranger["session_id"], stranger["input_id"]) == ("s", "b")
        assert stranger["data"]["code"] == "not_found"
        assert (await one.refused(type="chat", text="hi"))["data"]["code"] == "soul_not_selected"
        await one.socket.send(json.dumps({"type": "chat", "text": "hi", "soul_id": soul_id}).encode())
        assert (await one.until("done", "error"))[-1]["event"] == "done", "bytes are read like text"


async def test_a_turn_that_fails_is_an_error_event(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.script(*[Reply(text='{"no": "words"}')] * 2)
    async with line(modelled) as one:
        await one.chat("hi", soul_id=soul_id, input_id="a")
        failed = (await one.until("done", "error"))[-1]
        assert (failed["event"], failed["input_id"], failed["data"]["code"]) == ("error", "a", "turn_output_invalid")
        await one.chat("hi", soul_id=soul_id, input_id="a")
        assert (await one.until("done", "error"))[-1]["event"] == "done"


async def test_it_hears_what_others_do_to_the_souls_it_spoke_to_but_no_echo(modelled, stub):
    soul_id, other = await new_soul(modelled), await new_soul(modelled, "other")
    stub.default = grown("Touched")
    async with line(modelled) as one, line(modelled) as two:
        await one.chat("a present", soul_id=soul_id, session_id="one")
        own = await one.until("done")
        assert own[-1]["data"]["state_changed"]
        assert "state_changed" not in [frame["event"] for frame in own]
        await two.chat("hi", soul_id=other)
        await two.until("done")
        stub.default = grown("Moved")
        await two.chat("another present", soul_id=soul_id, session_id="two")
        answer = (await two.until("done"))[-1]["data"]
        where = {key: answer[key] for key in ("soul_id", "session_id", "turn_id")}
        news = await one.frame()
        assert news == {"event": "state_changed", "id": news["id"], "data": where}
        for each in (one, two):
            await each.send(type="ping")
            assert (await each.frame())["event"] == "pong", "nothing else was heard"


async def test_keys_come_in_the_header_or_among_the_protocols_and_never_in_the_address(tmp_path):
    async with open_stores(Settings.load(data_dir=tmp_path)) as stores:
        async with stores.write() as tx:
            owner, key = await tx.keys.create("o", "owner", 1.0), await tx.keys.create("c", "chat", 1.0)
        async with serving(data_dir=tmp_path) as client:
            client.headers["Authorization"] = f"Bearer {owner}"
            soul_id = await new_soul(client)
            assert await refusal(client) == (401, "unauthorized")
            assert await refusal(client, subprotocols=["soulgraph", "bearer.sg-wrong"]) == (401, "unauthorized")
            async with line(client, additional_headers={"Authorization": f"Bearer {key}"}) as one:
                await one.chat("hi", soul_id=soul_id)
                await one.until("done")
            page = {"subprotocols": ["soulgraph", f"bearer.{key}"], "origin": "https://studio.example"}
            async with line(client, **page) as one:
                assert one.socket.subprotocol == "soulgraph"
                await one.chat("hi", soul_id=soul_id)
                await one.until("done")
                async with stores.write() as tx:
                    [revoked] = [one.key_id for one in await tx.keys.all() if one.scope == "chat"]
                    await tx.keys.revoke(revoked, 2.0)
                assert (await one.refused(type="chat", text="hi", soul_id=soul_id))["data"]["code"] == "unauthorized"
                assert await one.closed() == 1008


async def test_an_open_server_hears_only_pages_of_this_machine(client):
    for origin in ("https://evil.example", "http://127.0.0.1.evil.example", "null", "http://192.168.0.7", "http://["):
        assert await refusal(client, origin=origin) == (403, "forbidden")
    for origin in ("http://localhost:3000", "http://127.0.0.1:8000", "http://[::1]:8000"):
        async with line(client, origin=origin) as one:
            await one.send(type="ping")
            assert (await one.frame())["event"] == "pong"


async def test_a_turn_outlives_its_socket(modelled, stub):
    soul_id = await new_soul(modelled)
    stub.default = Reply(text=SOUL_TURN, chunk_delay_s=0.02)
    async with line(modelled) as one:
        await one.chat("hello", soul_id=soul_id, session_id="s")
        await one.frame()
    while (await modelled.get("/v1/sessions/s")).is_error:
        await asyncio.sleep(0.01)
    assert await transcript(modelled, "s") == [("user", "hello"), ("assistant", "I hear you.")]


async def test_who_does_not_read_delays_nobody_and_misses_nothing(modelled, stub, monkeypatch):
    monkeypatch.setattr(wire, "MAX_TEXT", 500_000)  # more than a connection holds on its way
    soul_id = await new_soul(modelled)
    long = " ".join(map(str, range(100_000, 157_143)))  # nothing that repeats itself: that would be cut
    stub.default = Reply(text=SOUL_TURN.replace("I hear you.", long), chunk_size=50_000)
    narrow = socket.socket()
    narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    narrow.connect((modelled.base_url.host, modelled.base_url.port))
    async with (
        line(modelled, sock=narrow, max_queue=1, max_size=None, compression=None) as deaf,
        line(modelled) as other,
    ):
        for n in range(4):
            await deaf.chat("hi", soul_id=soul_id, session_id=f"s{n}")
        while sum(one["turn"] for one in (await modelled.get("/v1/sessions")).json()) < 4:
            await asyncio.sleep(0.01)
        await other.send(type="ping")
        assert (await other.frame())["event"] == "pong"
        frames = [frame for _ in range(4) for frame in await deaf.until("done")]
    spoken = sum(len(frame["data"]["text"]) for frame in frames if frame["event"] == "token")
    assert spoken == 4 * len(long) == 4 * 400_000


async def test_one_socket_may_have_so_many_turns_under_way(modelled, stub, monkeypatch):
    monkeypatch.setattr(websocket, "MAX_TURNS", 2)
    soul_id = await new_soul(modelled)
    stub.default = Reply(text=SOUL_TURN, delay_s=0.3)
    async with line(modelled) as one:
        for name in ("a", "b", "c"):
            await one.chat("hi", soul_id=soul_id, session_id=name, input_id=name)
        busy = (await one.until("error"))[-1]
        assert (busy["input_id"], busy["data"]["code"], busy["data"]["retry_after_s"]) == ("c", "session_busy", 1)
        await one.until("done")
        await one.until("done")
        await one.chat("hi", soul_id=soul_id, session_id="c", input_id="c")
        assert (await one.until("done", "error"))[-1]["event"] == "done"


def test_a_server_that_stops_says_goodbye_and_no_message_may_be_endless(tmp_path):
    with ExitStack() as sockets:
        with hosted(Settings.load(data_dir=tmp_path)) as url:
            address = f"{url.replace('http', 'ws')}/v1/chat/ws"
            large, silent = [sockets.enter_context(connect(address, proxy=None)) for _ in range(2)]
            large.send(json.dumps({"type": "chat", "text": "x" * 1_100_000}))
            assert closing(large) == 1009
            silent.send('{"type": "ping"}')
            assert json.loads(silent.recv())["event"] == "pong"
        assert closing(silent) == 1001


def closing(one):
    with pytest.raises(ConnectionClosed) as end:
        one.recv(timeout=20)
    return end.value.rcvd.code
