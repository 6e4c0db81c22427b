"""MQTT through the server: real clients over its web socket, on the embedded broker and on Mosquitto."""

import asyncio
import base64
import hashlib
import json
import logging
import subprocess
from contextlib import asynccontextmanager

import aiomqtt
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from soulgraph.api import mqtt as module
from soulgraph.api import mqtt_rights
from soulgraph.terminals.mqtt_framing import Kind, PacketBuffer
from soulgraph.terminals.mqtt_packets import Connect, Publish, Subscribe, Subscription, Will
from soulgraph.tests.e2e.keyring import build, made
from soulgraph.tests.live import new_soul, serving
from soulgraph.tests.terminals.brokers import any_broker, eventually, independent, program, running
from soulgraph.tests.terminals.robot import Robot

CONNECT = Connect("page", 60).encode()
CLOSED_S = 5
"""Less than what passes before the first look at the key that nobody has asked for."""


@pytest.fixture(params=["mosquitto", "embedded"])
async def mqtt(request, tmp_path):
    async with any_broker(request.param, tmp_path) as url:
        yield url


def way_in(server, headers=None):
    """How an MQTT client is told to go through the server."""
    return {"transport": "websockets", "websocket_path": "/v1/mqtt", "websocket_headers": headers}


def through(server, headers=None, **options):
    return independent(str(server.base_url), **way_in(server, headers), **options)


def robot_through(server, terminal_id, headers=None, **options):
    return Robot.connected(str(server.base_url), terminal_id, **way_in(server, headers), **options)


class Wire:
    """A socket that speaks MQTT byte by byte."""

    def __init__(self, socket):
        self.socket = socket
        self._buffer = PacketBuffer(10_000_000)
        self._packets = []

    async def packet(self):
        async with asyncio.timeout(10):
            while not self._packets:
                self._packets += self._buffer.feed(await self.socket.recv())
        return self._packets.pop(0)

    async def connected(self, connect=CONNECT):
        await self.socket.send(connect)
        assert (await self.packet()).body == b"\0\0"
        return self

    async def subscribed(self, topic):
        await self.socket.send(Subscribe(1, (Subscription(topic, 1),)).encode())
        assert (await self.packet()).body == bytes([0, 1, 1])

    async def publish(self, topic, payload=b"{}"):
        await self.socket.send(Publish(topic, payload).encode())

    async def closed(self):
        """(code, reason) with which the server closes."""
        with pytest.raises(ConnectionClosed) as end:
            async with asyncio.timeout(CLOSED_S):
                while True:
                    await self.socket.recv()
        return end.value.rcvd.code, end.value.rcvd.reason


@asynccontextmanager
async def wire(server, headers=None, **options):
    url = f"ws://{server.base_url.netloc.decode()}/v1/mqtt"
    options = {"subprotocols": ["mqtt"], "additional_headers": headers, **options}
    async with connect(url, proxy=None, **options) as socket:
        yield Wire(socket)


async def refused(server, headers=None, **options):
    """(status, code) with which the handshake is refused."""
    with pytest.raises(InvalidStatus) as refusal:
        async with wire(server, headers, **options):
            pass
    return refusal.value.response.status_code, json.loads(refusal.value.response.body)["code"]


async def answered(client, *filters):
    """The codes with which subscriptions are answered."""
    return [code.value for code in await client.subscribe([(one, 1) for one in filters])]


async def heard(client, is_last, timeout_s=5):
    """The topics of what a client hears, up to the one that `is_last`."""
    topics = []
    async with asyncio.timeout(timeout_s):
        async for message in client.messages:
            topics.append(message.topic.value)
            if is_last(topics[-1]):
                break
    return topics


async def test_a_robot_behind_the_socket_is_a_terminal_like_any_other_and_may_come_twice(mqtt, tmp_path):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client:
        await new_soul(client)
        for run in ("first", "second"):
            async with robot_through(client, "page") as robot:
                await robot.report(soul_hint="小满")
                await robot.hears("status", lambda status: status["bound"] and status["catalog_version"])
                await robot.say("input", {"input_id": run, "text": "开灯"})
                reply = await robot.hears("reply", lambda reply: reply["input_id"] == run)  # noqa: B023
                assert reply["executed_skills"] == ["light_on"]
                assert (await robot.hears("intent_action"))["intents"][0]["intent_id"] == "light_on"
        [terminal] = (await client.get("/v1/terminals")).json()
        assert (terminal["terminal_id"], terminal["skills"][0]["name"]) == ("page", "battery.level")


async def test_who_comes_again_under_its_name_is_served_whatever_becomes_of_its_first_connection(mqtt, tmp_path):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client, wire(client) as second:
        async with wire(client) as first:
            await first.connected()
            await second.connected()
            await second.subscribed("soul/terminal/lamp/#")
        await second.publish("soul/terminal/lamp/heartbeat", b"1")
        assert Publish.decode(await second.packet()).topic == "soul/terminal/lamp/heartbeat"


async def test_a_client_of_another_key_cannot_take_the_place_of_one(mqtt, tmp_path):
    house = await build(tmp_path)
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt) as client,
        wire(client, house.headers("terminal")) as robot,
        wire(client, house.headers("ann's terminal")) as namesake,
    ):
        await robot.connected()
        await namesake.connected()
        await robot.socket.send(bytes([Kind.PINGREQ << 4, 0]))
        assert (await robot.packet()).kind == Kind.PINGRESP


async def test_the_last_will_is_heard_when_the_page_is_gone_and_not_after_a_goodbye(mqtt, tmp_path):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client, independent(mqtt) as listener:
        await listener.subscribe("soul/terminal/+/online")
        async with robot_through(client, "polite"):
            pass
        async with wire(client) as page:
            will = Will("soul/terminal/sudden/online", b"offline", 1, True)
            await page.connected(Connect("page", 60, will=will).encode())
            page.socket.transport.abort()
        said = []
        async with asyncio.timeout(5):
            async for message in listener.messages:
                said.append((message.topic.value.split("/")[2], message.payload.decode()))
                if message.payload == b"offline":
                    break
    assert said == [("polite", "online"), ("sudden", "offline")]


async def test_a_key_goes_along_in_a_header_or_as_browsers_do_among_the_protocols(mqtt, tmp_path):
    house = await build(tmp_path)
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client:
        async with wire(client, house.headers("owner")) as by_header:
            await by_header.connected()
            assert by_header.socket.subprotocol == "mqtt"
        async with wire(client, subprotocols=["mqtt", f"bearer.{house.keys['owner']}"]) as by_protocol:
            await by_protocol.connected()
            assert by_protocol.socket.subprotocol == "mqtt"
        assert await refused(client) == (401, "unauthorized")
        assert await refused(client, house.headers("revoked")) == (401, "unauthorized")
        for who in ("chat", "ann", "anybody"):
            assert await refused(client, house.headers(who)) == (403, "forbidden")


async def test_an_open_server_lets_in_no_page_from_elsewhere(tmp_path):
    async with serving(data_dir=tmp_path, mqtt_url="", mqtt_port=0, mqtt_websocket_port=0) as client:
        assert await refused(client, origin="http://evil.example") == (403, "forbidden")
        async with wire(client, origin=str(client.base_url).rstrip("/")) as page:
            await page.connected()


async def test_a_server_without_a_broker_says_so(tmp_path):
    async with serving(data_dir=tmp_path, mqtt_url="none") as client:
        assert await refused(client) == (409, "no_broker")


async def test_a_broker_that_is_away_is_told_before_the_handshake_and_after_it(tmp_path):
    async with running(tmp_path) as broker, serving(data_dir=tmp_path, mqtt_url=broker.url) as client:
        async with wire(client) as page:
            await page.connected()
            broker.kill()
            assert await page.closed() == (1011, "the broker has ended the connection")
        assert await refused(client) == (503, "broker_unavailable")


async def test_the_server_logs_in_at_the_broker_for_its_clients(tmp_path):
    digest = hashlib.pbkdf2_hmac("sha512", b"s3cret!", b"0123456789ab", 101)
    entry = ["soul:", "7", "101", base64.b64encode(b"0123456789ab").decode(), base64.b64encode(digest).decode()]
    (tmp_path / "passwords").write_text("$".join(entry) + "\n")
    options = "allow_anonymous false", f"password_file {tmp_path / 'passwords'}"
    async with (
        running(tmp_path, *options) as broker,
        serving(data_dir=tmp_path, mqtt_url=broker.url.replace("//", "//soul:s3cret!@")) as client,
        robot_through(client, "page", username="somebody", password="else") as robot,
    ):
        await robot.report()
        await robot.hears("status", lambda status: status["catalog_version"])


async def test_the_way_to_a_broker_with_tls_is_encrypted_for_its_clients_too(tmp_path, monkeypatch):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = f"req -x509 -newkey rsa:2048 -nodes -days 1 -keyout {key} -out {certificate} -subj /CN=broker"
    name = ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([program("openssl"), *command.split(), *name], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with (
        running(tmp_path, "allow_anonymous true", f"certfile {certificate}", f"keyfile {key}") as broker,
        serving(data_dir=tmp_path, mqtt_url=broker.url.replace("mqtt", "mqtts")) as client,
        robot_through(client, "page") as robot,
    ):
        await robot.report()
        await robot.hears("status", lambda status: status["catalog_version"])


async def test_mqtt_5_is_refused_in_its_own_words(mqtt, tmp_path, caplog):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client:
        with pytest.raises(aiomqtt.MqttError, match="Unsupported protocol version"):
            async with through(client, protocol=aiomqtt.ProtocolVersion.V5):
                pass
    assert "only MQTT 3.1.1 is spoken here" in caplog.text


async def test_an_owner_hears_all_terminals_and_may_say_again_what_was_said(mqtt, tmp_path):
    house = await build(tmp_path)
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt) as client,
        through(client, house.headers("owner")) as owner,
        robot_through(client, "lamp-0", house.headers("terminal")) as robot,
    ):
        assert await answered(owner, "soul/terminal/#", "#", "$SYS/#") == [1, 128, 128]
        await robot.report()
        await heard(owner, lambda topic: topic == "soul/terminal/lamp-0/intent_catalog")
        action = {"request_id": "again", "intents": []}
        await owner.publish("soul/terminal/lamp-0/intent_action", json.dumps(action), qos=1)
        assert (await robot.hears("intent_action"))["request_id"] == "again"


async def test_a_key_of_one_soul_hears_neither_the_other_nor_what_was_retained_for_others(mqtt, tmp_path):
    """The embedded broker sends every new client what is retained and anybody has asked for."""
    house = await build(tmp_path)
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt) as client,
        through(client, house.headers("owner")) as owner,
        robot_through(client, "lamp-1", house.headers("terminal")) as other,
    ):
        await owner.subscribe("soul/terminal/#")
        await other.report()
        await other.hears("status", lambda status: status["catalog_version"])
        async with through(client, house.headers("owner, soul 1")) as limited:
            filters = ["soul/terminal/#", "soul/terminal/lamp-1/#", "soul/terminal/lamp-0/#", "soul/terminal/+/reply"]
            assert await answered(limited, *filters) == [128, 128, 1, 128]
            await other.say("heartbeat", "1")
            await limited.publish("soul/terminal/lamp-0/heartbeat", "1", qos=1)
            assert await heard(limited, lambda topic: True) == ["soul/terminal/lamp-0/heartbeat"]


async def test_what_is_retained_comes_only_to_those_who_asked_for_it(mqtt, tmp_path):
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt) as client,
        robot_through(client, "lamp") as robot,
        wire(client) as page,
    ):
        await robot.report()
        await robot.hears("status", lambda status: status["catalog_version"])
        await page.connected()
        await page.subscribed("soul/terminal/other/#")
        await page.publish("soul/terminal/other/heartbeat", b"1")
        assert Publish.decode(await page.packet()).topic == "soul/terminal/other/heartbeat"


async def test_a_terminal_that_gets_another_soul_is_heard_no_more(mqtt, tmp_path, monkeypatch):
    monkeypatch.setattr(mqtt_rights, "_SEEN_S", 0.0)
    house = await build(tmp_path)
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt) as client,
        through(client, house.headers("owner, soul 1")) as limited,
        through(client, house.headers("owner")) as owner,
    ):
        for listener in (limited, owner):
            await listener.subscribe([("soul/terminal/lamp-0/#", 1), ("soul/terminal/mine/#", 1)])
        selection = {"terminal_id": "lamp-0", "soul_id": house.souls[1]}
        answer = await client.post("/v1/souls/select", json=selection, headers=house.headers("owner"))
        assert answer.status_code == 200
        assert await heard(owner, lambda topic: True) == ["soul/terminal/lamp-0/status"]
        await owner.publish("soul/terminal/mine/heartbeat", "1", qos=1)
        assert await heard(limited, lambda topic: True) == ["soul/terminal/mine/heartbeat"]


@pytest.mark.parametrize(
    ("who", "topic", "payload"),
    [
        ("terminal", "soul/terminal/lamp-0/intent_action", b"{}"),
        ("terminal", "home/door", b"open"),
        ("owner", "home/door", b"open"),
        ("owner, soul 1", "soul/terminal/lamp-1/heartbeat", b"1"),
        ("owner, soul 1", "soul/terminal/lamp-0/input", b'{"input_id": "1", "text": "hi", "session_id": "ann-1"}'),
        ("owner, soul 1", "soul/terminal/new/skills", b'{"terminal_id": "new", "soul_hint": "Soul 1"}'),
        ("owner, soul 1", "soul/terminal/new/skills", b'{"terminal_id": "new", "soul_hint": "yet unborn"}'),
        ("ann's terminal", "soul/terminal/new/input", b'{"input_id": "1", "text": "hi", "user_id": "bob"}'),
        ("ann's terminal", "soul/terminal/new/input", b'{"input_id": "1", "text": "hi", "session_id": "bob-0"}'),
        ("ann's terminal", "soul/terminal/lamp-0/heartbeat", b"1"),
    ],
)
async def test_who_says_what_is_not_theirs_is_thrown_out_and_it_is_not_said(tmp_path, caplog, who, topic, payload):
    house = await build(tmp_path)
    async with (
        running(tmp_path) as broker,
        serving(data_dir=tmp_path, mqtt_url=broker.url) as client,
        independent(broker.url) as witness,
        wire(client, house.headers(who)) as page,
    ):
        await witness.subscribe("#", qos=1)
        await page.connected()
        await page.publish(topic, payload)
        code, reason = await page.closed()
        assert (code, bool(reason)) == (1008, True)
        assert f"closed the connection of {who}: {reason[:60]}" in caplog.text
        await witness.publish("the/end", qos=1)
        assert await heard(witness, lambda topic: topic == "the/end") == ["the/end"]


async def test_a_key_of_one_soul_may_name_its_soul(tmp_path):
    house = await build(tmp_path)
    async with (
        running(tmp_path) as broker,
        serving(data_dir=tmp_path, mqtt_url=broker.url) as client,
        robot_through(client, "new", house.headers("owner, soul 1")) as robot,
    ):
        await robot.report(soul_hint="Soul 0")
        await robot.hears("status", lambda status: status.get("soul_id") == house.souls[0])


async def test_what_a_person_says_is_theirs_whoever_usually_speaks_there(mqtt, tmp_path):
    house = await build(tmp_path)
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt) as client,
        robot_through(client, "shared", house.headers("ann's terminal")) as robot,
    ):
        selection = {"terminal_id": "shared", "soul_id": house.souls[0]}
        await client.post("/v1/souls/select", json=selection, headers=house.headers("terminal"))
        await robot.say("input", {"input_id": "1", "text": "你好", "ts": 1.5})
        reply = await robot.hears("reply")
        session = await client.get(f"/v1/sessions/{reply['session_id']}", headers=house.headers("ann"))
        assert session.json()["user_id"] == "ann"
        assert await known_person(client, house) == "default"


async def known_person(client, house):
    return (await client.get("/v1/terminals/shared", headers=house.headers("owner"))).json()["user_id"]


async def test_a_terminals_key_that_is_nobody_speaks_for_whom_it_says(mqtt, tmp_path):
    house = await build(tmp_path)
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt) as client,
        robot_through(client, "lamp-0", house.headers("terminal")) as robot,
    ):
        for number, (named, spoke) in enumerate([({"user_id": "ann"}, "ann"), ({}, "bob")]):
            await robot.say("input", {"input_id": f"{number}", "text": "你好", **named})
            reply = await robot.hears("reply", lambda reply, number=number: reply["input_id"] == f"{number}")
            session = await client.get(f"/v1/sessions/{reply['session_id']}", headers=house.headers("owner"))
            assert session.json()["user_id"] == spoke


async def test_input_that_makes_no_sense_is_answered_by_the_status(mqtt, tmp_path):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client, robot_through(client, "page") as robot:
        for number, nonsense in enumerate(["{", "[]", '{"input_id": 5, "user_id": 5}'], start=1):
            await robot.say("input", nonsense)
            problems = lambda: [one["problem"]["code"] for one in robot.of("status") if "problem" in one]  # noqa: E731
            await eventually(lambda number=number, problems=problems: problems() == ["invalid_input"] * number)


async def test_a_refused_will_ends_the_connection_before_the_broker_sees_it(tmp_path):
    house = await build(tmp_path)
    will = aiomqtt.Will("soul/terminal/lamp-1/online", "offline")
    async with running(tmp_path) as broker, serving(data_dir=tmp_path, mqtt_url=broker.url) as client:
        with pytest.raises(aiomqtt.MqttError, match=r"[Nn]ot authori[sz]ed"):
            async with through(client, house.headers("owner, soul 1"), will=will):
                pass


async def revoked(client, house, name):
    owner = house.headers("owner")
    [key] = [key for key in (await client.get("/v1/keys", headers=owner)).json() if key["name"] == name]
    assert (await client.delete(f"/v1/keys/{key['key_id']}", headers=owner)).is_success


async def test_a_revoked_key_ends_its_connection_when_it_asks_for_more(mqtt, tmp_path):
    house = await build(tmp_path)
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt) as client,
        wire(client, house.headers("terminal")) as page,
    ):
        await page.connected()
        await revoked(client, house, "terminal")
        await page.socket.send(Subscribe(1, (Subscription("soul/terminal/lamp-0/#", 1),)).encode())
        assert await page.closed() == (1008, "this key is unknown or revoked")


async def test_a_revoked_key_ends_its_connection_also_if_it_only_listens(mqtt, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "KEY_CHECK_S", 0.05)
    monkeypatch.setattr(module, "_CONNECT_S", 0.5)
    house = await build(tmp_path)
    async with (
        serving(data_dir=tmp_path, mqtt_url=mqtt) as client,
        wire(client, house.headers("terminal")) as page,
    ):
        await page.connected()
        await revoked(client, house, "terminal")
        assert await page.closed() == (1008, "this key is unknown or revoked")


async def test_a_server_that_was_open_ends_the_connections_of_those_without_a_key(mqtt, tmp_path):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client, wire(client) as page:
        await page.connected()
        await made(client, "admin", "owner")
        await page.socket.send(Subscribe(1, (Subscription("soul/terminal/#", 1),)).encode())
        assert (await page.closed())[0] == 1008


async def test_what_is_no_mqtt_ends_the_connection(mqtt, tmp_path, monkeypatch):
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client:
        for nonsense in ("text", b"\x10\xff\xff\xff\xff\xff", b"\x30\x03\0\x09x", bytes([Kind.PINGREQ << 4, 0])):
            async with wire(client) as page:
                await page.socket.send(nonsense)
                assert (await page.closed())[0] == 1002
        async with wire(client) as page:
            await (await page.connected()).publish("soul/terminal/lamp/skills", b"x" * (300 * 1024))
            assert (await page.closed())[0] == 1009
        monkeypatch.setattr(module, "_CONNECT_S", 0.5)
        async with wire(client) as silent:
            assert await silent.closed() == (1002, "no CONNECT came")


async def test_packets_may_be_cut_into_any_frames(mqtt, tmp_path):
    stream = Connect("page", 60).encode() + Subscribe(7, (Subscription("soul/terminal/a/#", 0),)).encode()
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client:
        for step in (1, len(stream)):
            async with wire(client) as page:
                for at in range(0, len(stream), step):
                    await page.socket.send(stream[at : at + step])
                assert [(await page.packet()).kind for _ in range(2)] == [Kind.CONNACK, Kind.SUBACK]


async def test_nothing_is_left_open_when_clients_have_gone(mqtt, tmp_path, caplog):
    caplog.set_level(logging.WARNING, "soulgraph")
    async with serving(data_dir=tmp_path, mqtt_url=mqtt) as client:
        for _ in range(5):
            async with wire(client) as page:
                await page.connected()
            async with wire(client) as page:
                await page.connected()
                page.socket.transport.abort()
        async with wire(client) as page:
            await page.connected()
        tunnels = lambda: [task for task in asyncio.all_tasks() if "Connection._" in repr(task.get_coro())]  # noqa: E731
        await eventually(lambda: not tunnels())
    assert caplog.records == []


async def test_a_server_that_stops_says_so_and_does_not_wait_for_its_clients(mqtt, tmp_path):
    server = serving(data_dir=tmp_path, mqtt_url=mqtt)
    client = await server.__aenter__()
    async with wire(client) as page:
        await page.connected()
        async with asyncio.timeout(CLOSED_S):
            await server.__aexit__(None, None, None)
        assert (await page.closed())[0] == 1012
