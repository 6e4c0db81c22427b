"""The rules of a tunnel, packet by packet: what a client may say, and what reaches it."""

import json

import pytest

from soulgraph.errors import Forbidden, InvalidInput, TooLarge
from soulgraph.terminals import tunnel as module
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.mqtt_framing import Kind, Packet, PacketBuffer
from soulgraph.terminals.mqtt_packets import FAILURE, Connect, Publish, SubAck, Subscribe, Subscription, Will, puback
from soulgraph.terminals.reports import MAX_BYTES
from soulgraph.terminals.rules import MAX_PACKET, ConnectRefused
from soulgraph.terminals.tunnel import Relay, Tunnel

LAMP, FAN = "soul/terminal/lamp", "soul/terminal/fan"
BROKER = Broker.parse("mqtt://server:p%40ss@127.0.0.1:1883")
PINGREQ = Packet(Kind.PINGREQ, 0, b"")


class Lamps:
    """The rights of a key for lamps. Inputs are signed with `ann`."""

    everywhere = may_resend = False

    async def sees(self, terminal_id):
        return terminal_id.startswith("lamp")

    async def checked(self, terminal_id, kind, payload):
        return json.dumps({**json.loads(payload), "user_id": "ann"}).encode() if kind == "input" else payload


class Everything(Lamps):
    everywhere = may_resend = True

    async def sees(self, terminal_id):
        return True


def packet(data):
    [found] = PacketBuffer(MAX_PACKET).feed(data)
    return found


def asking(*filters, packet_id=5, qos=1):
    return packet(Subscribe(packet_id, tuple(Subscription(one, qos) for one in filters)).encode())


def said(topic, payload=b"{}", qos=0, **more):
    return packet(Publish(topic, payload, qos, packet_id=9 if qos else 0, **more).encode())


@pytest.fixture
async def lamps():
    tunnel = Tunnel(Lamps(), BROKER, "key_1")
    await tunnel.from_client(packet(Connect("robot", 60).encode()))
    return tunnel


@pytest.fixture
async def owner():
    tunnel = Tunnel(Everything(), BROKER, "key_2")
    await tunnel.from_client(packet(Connect("page", 60).encode()))
    return tunnel


async def connected(**fields):
    """How a client's CONNECT reaches the broker."""
    relay = await Tunnel(Lamps(), BROKER, "key_1").from_client(packet(Connect(**fields).encode()))
    assert relay.to_client == b""
    return Connect.decode(packet(relay.to_broker))


async def test_the_broker_sees_the_servers_credentials_and_a_clean_session():
    will = Will(f"{LAMP}/online", b"offline", 1, True)
    seen = await connected(client_id="robot", keepalive_s=7, clean=False, will=will, username="x", password=b"y")
    assert seen == Connect("tunnel-key_1-robot", 7, True, will, "server", b"p@ss")


async def test_a_client_without_an_id_gets_one_of_its_own():
    first, second = [await connected(client_id="", keepalive_s=60) for _ in range(2)]
    assert first.client_id != second.client_id
    assert all(one.client_id.startswith("tunnel-key_1-") for one in (first, second))


async def test_the_will_speaks_for_whom_the_client_speaks():
    seen = await connected(client_id="", keepalive_s=0, will=Will(f"{LAMP}/input", b'{"user_id": "bob"}', 1, False))
    assert json.loads(seen.will.payload) == {"user_id": "ann"}


@pytest.mark.parametrize("topic", [f"{FAN}/online", f"{LAMP}/reply", "soul/other", "$SYS/x"])
async def test_a_will_that_the_client_may_not_speak_is_refused_before_the_broker_hears_of_it(topic):
    tunnel = Tunnel(Lamps(), BROKER, "key_1")
    with pytest.raises(ConnectRefused) as refused:
        await tunnel.from_client(packet(Connect("robot", 60, will=Will(topic, b"", 0, False)).encode()))
    assert packet(refused.value.answer) == Packet(Kind.CONNACK, 0, b"\0\5")
    assert isinstance(refused.value.error, Forbidden)
    assert not tunnel.connected


@pytest.mark.parametrize(
    ("head", "answer"),
    [(b"\0\4MQTT\5\2\0\0\0\0\0", b"\0\x84"), (b"\0\6MQIsdp\3\2\0\0\0\1a", b"\0\1"), (b"\0\4MQTT\6\2", b"\0\1")],
    ids=["5", "3.1", "6"],
)
async def test_another_version_is_refused_in_words_it_understands(head, answer):
    with pytest.raises(ConnectRefused, match=r"MQTT 3\.1\.1") as refused:
        await Tunnel(Lamps(), BROKER, "k").from_client(Packet(Kind.CONNECT, 0, head))
    assert packet(refused.value.answer).body.startswith(answer)


async def test_everything_begins_with_one_connect(lamps):
    with pytest.raises(InvalidInput, match="CONNECT"):
        await Tunnel(Lamps(), BROKER, "k").from_client(PINGREQ)
    with pytest.raises(InvalidInput, match="kind 1"):
        await lamps.from_client(packet(Connect("robot", 60).encode()))


@pytest.mark.parametrize("kind", [Kind.CONNACK, Kind.SUBACK, Kind.UNSUBACK, Kind.PINGRESP, 0, 15])
async def test_a_client_does_not_speak_as_a_broker(lamps, kind):
    with pytest.raises(InvalidInput, match="does not send"):
        await lamps.from_client(Packet(kind, 0, b"\0\1"))


@pytest.mark.parametrize("kind", [Kind.PUBACK, Kind.PUBREC, Kind.PUBCOMP, Kind.PINGREQ, Kind.DISCONNECT])
async def test_the_rest_passes_as_it_is(lamps, kind):
    assert await lamps.from_client(Packet(kind, 0, b"\0\1")) == Relay(to_broker=Packet(kind, 0, b"\0\1").encode())


KINDS = ["online", "heartbeat", "skills", "intent_catalog", "result/r_1"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_terminal_says_what_terminals_say(lamps, kind):
    message = said(f"{LAMP}/{kind}", b"x", qos=1, retain=True)
    assert await lamps.from_client(message) == Relay(to_broker=message.encode())


async def test_an_input_is_published_with_the_person_who_speaks(lamps):
    relay = await lamps.from_client(said(f"{LAMP}/input", b'{"text": "hi"}', qos=1))
    message = Publish.decode(packet(relay.to_broker))
    assert (message.topic, message.qos, message.packet_id) == (f"{LAMP}/input", 1, 9)
    assert json.loads(message.payload) == {"text": "hi", "user_id": "ann"}


@pytest.mark.parametrize(
    "topic",
    [
        *[f"{FAN}/{kind}" for kind in KINDS],
        *[
            f"{LAMP}/{kind}"
            for kind in ("reply", "status", "emotion_update", "intent_action", "invoke/1", "", "online/")
        ],
        *[f"{LAMP}/{kind}" for kind in ("result", "result/", "result/a/b", "result/+", "+", "#")],
        *("soul/terminal", LAMP, "soul/terminal/+/online", "soul/terminal//online", "soul/terminal/a b/online"),
        *("soul/terminal2/lamp/online", "x", "", "$SYS/broker", f"/{LAMP}/online", "SOUL/terminal/lamp/online"),
    ],
)
async def test_nothing_else_is_published(lamps, topic):
    with pytest.raises(Forbidden):
        await lamps.from_client(said(topic))


async def test_an_owner_may_say_again_what_a_server_said_but_only_to_terminals(owner):
    message = said(f"{FAN}/intent_action", b"{}", qos=1)
    assert await owner.from_client(message) == Relay(to_broker=message.encode())
    for topic in ("home/door", "$SYS/x", "soul/terminal/+/online", "soul/terminal/fan"):
        with pytest.raises(Forbidden):
            await owner.from_client(said(topic))


async def test_a_message_has_256_kib_at_most(lamps):
    assert (await lamps.from_client(said(f"{LAMP}/skills", b"x" * MAX_BYTES))).to_broker
    with pytest.raises(TooLarge):
        await lamps.from_client(said(f"{LAMP}/skills", b"x" * (MAX_BYTES + 1)))
    with pytest.raises(TooLarge):
        await lamps.from_client(Packet(Kind.PUBLISH, 0, b"", whole=False))


@pytest.mark.parametrize("topic", [f"{LAMP}/#", f"{LAMP}/reply", f"{LAMP}/+", f"{LAMP}/invoke/+", LAMP])
async def test_a_client_may_ask_for_what_its_terminal_hears(lamps, topic):
    relay = await lamps.from_client(asking(topic))
    assert relay == Relay(to_broker=asking(topic).encode())


REFUSED = [
    *("#", "+", "soul/#", "+/terminal/lamp/#", "soul/+/lamp/#", "$SYS/#", f"$share/x/{LAMP}/#", ""),
    *("soul/terminal", "soul/terminal/", f"{LAMP}/a#", f"{LAMP}/#/x", f"{LAMP}/a+", f"{FAN}/#"),
]


@pytest.mark.parametrize("topic", [*REFUSED, "soul/terminal/#", "soul/terminal/+/reply"])
async def test_what_is_refused_never_reaches_the_broker(lamps, topic):
    relay = await lamps.from_client(asking(topic, packet_id=77))
    assert relay == Relay(to_client=SubAck(77, [FAILURE]).encode())


@pytest.mark.parametrize("topic", ["soul/terminal/#", "soul/terminal/+/reply", f"{FAN}/#"])
async def test_an_owner_may_listen_to_all_terminals(owner, topic):
    assert (await owner.from_client(asking(topic))).to_broker == asking(topic).encode()


@pytest.mark.parametrize("topic", [topic for topic in REFUSED if topic != f"{FAN}/#"])
async def test_an_owner_hears_nothing_but_terminals(owner, topic):
    assert (await owner.from_client(asking(topic))).to_broker == b""


async def test_each_subscription_is_answered_in_its_place(lamps):
    relay = await lamps.from_client(asking("#", f"{LAMP}/reply", f"{FAN}/#", f"{LAMP}/status", packet_id=3, qos=2))
    assert relay == Relay(to_broker=asking(f"{LAMP}/reply", f"{LAMP}/status", packet_id=3, qos=1).encode())
    answered = await lamps.from_broker(packet(SubAck(3, [1, 0]).encode()))
    assert answered == Relay(to_client=SubAck(3, [FAILURE, 1, FAILURE, 0]).encode())


async def test_only_what_was_asked_for_is_delivered(lamps):
    """Some brokers send what is retained to every new client, whoever asked for it."""
    heard = said(f"{LAMP}/reply")
    assert await lamps.from_broker(heard) == Relay()
    await lamps.from_client(asking(f"{LAMP}/reply"))
    assert await lamps.from_broker(heard) == Relay(to_client=heard.encode())
    assert await lamps.from_broker(said(f"{LAMP}/status")) == Relay()
    assert await lamps.from_broker(said(f"{FAN}/reply", qos=1)) == Relay(to_broker=puback(9))


async def test_nothing_is_delivered_of_what_the_broker_refused_or_the_client_gave_up(lamps):
    await lamps.from_client(asking(f"{LAMP}/reply", f"{LAMP}/status"))
    await lamps.from_broker(packet(SubAck(5, [FAILURE, 1]).encode()))
    assert await lamps.from_broker(said(f"{LAMP}/reply")) == Relay()
    assert (await lamps.from_broker(said(f"{LAMP}/status"))).to_client
    name = f"{LAMP}/status".encode()
    goodbye = Packet(Kind.UNSUBSCRIBE, 2, b"\0\6" + len(name).to_bytes(2, "big") + name)
    assert await lamps.from_client(goodbye) == Relay(to_broker=goodbye.encode())
    assert await lamps.from_broker(said(f"{LAMP}/status")) == Relay()


async def test_a_terminal_that_is_no_longer_the_clients_is_heard_no_more(lamps):
    await lamps.from_client(asking(f"{LAMP}/#"))

    async def sees_none(terminal_id):
        return False

    lamps.rights.sees = sees_none
    assert await lamps.from_broker(said(f"{LAMP}/reply", qos=1)) == Relay(to_broker=puback(9))


async def test_a_message_that_is_too_large_is_kept_from_the_client_and_acknowledged(owner):
    await owner.from_client(asking("soul/terminal/#"))
    large = Publish(f"{LAMP}/reply", b"x" * (2 * MAX_BYTES), 1, packet_id=9).encode()
    assert await owner.from_broker(packet(large)) == Relay(to_broker=puback(9))
    just_above = Publish(f"{LAMP}/reply", b"x" * (MAX_BYTES + 1), 1, packet_id=8).encode()
    assert await owner.from_broker(packet(just_above)) == Relay(to_broker=puback(8))


async def test_nobody_may_ask_without_end(owner, monkeypatch):
    monkeypatch.setattr(module, "MAX_FILTERS", 2)
    await owner.from_client(asking("soul/terminal/a/#", "soul/terminal/b/#"))
    assert (await owner.from_client(asking("soul/terminal/c/#"))).to_client == SubAck(5, [FAILURE]).encode()
    assert (await owner.from_client(asking("soul/terminal/a/#"))).to_broker


async def test_what_else_the_broker_says_passes_as_it_is(lamps):
    for kind in (Kind.CONNACK, Kind.PUBACK, Kind.UNSUBACK, Kind.PINGRESP):
        assert await lamps.from_broker(Packet(kind, 0, b"\0\0")) == Relay(to_client=Packet(kind, 0, b"\0\0").encode())
    unasked = packet(SubAck(99, [1]).encode())
    assert await lamps.from_broker(unasked) == Relay(to_client=unasked.encode())
