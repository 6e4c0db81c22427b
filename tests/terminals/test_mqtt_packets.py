"""The packets: written as the standard and other programs write them, and cut out of any stream of bytes."""

import asyncio
from dataclasses import replace

import pytest
from amqtt.adapters import BufferReader
from amqtt.mqtt.connack import ConnackPacket
from amqtt.mqtt.connect import ConnectPacket
from amqtt.mqtt.puback import PubackPacket
from amqtt.mqtt.publish import PublishPacket
from amqtt.mqtt.suback import SubackPacket
from amqtt.mqtt.subscribe import SubscribePacket
from amqtt.mqtt.unsubscribe import UnsubscribePacket
from hypothesis import given
from hypothesis import strategies as st

from soulgraph.errors import InvalidInput
from soulgraph.terminals.mqtt_framing import Kind, Packet, PacketBuffer
from soulgraph.terminals.mqtt_packets import (
    FAILURE,
    Connect,
    ConnectCode,
    Publish,
    SubAck,
    Subscribe,
    Subscription,
    Will,
    protocol_of,
    puback,
    refuse_connect,
    refuse_version_5,
    unsubscribed,
)

TEXTS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=40)
CONNECT = Connect("robot", 60, True, Will("soul/terminal/lamp/online", b"offline", 1, True), "me", b"p\xffss")
# Byte by byte, from the tables of the standard.
WIRE = bytes.fromhex("101c 0004 4d515454 04 c6 003c 0001 61 0001 74 0002 6869 0001 75 0003 707764".replace(" ", ""))


def packets(data, limit=1000):
    return list(PacketBuffer(limit).feed(data))


def one(data):
    [packet] = packets(data)
    return packet


def read_by_amqtt(kind, data):
    """What an independent implementation reads."""
    return asyncio.run(kind.from_stream(BufferReader(data)))


def test_a_connect_is_read_and_written_as_the_standard_has_it():
    packet = one(WIRE)
    connect = Connect("a", 60, True, Will("t", b"hi", 0, False), "u", b"pwd")
    assert (packet.kind, protocol_of(packet)) == (Kind.CONNECT, ("MQTT", 4))
    assert Connect.decode(packet) == connect
    assert connect.encode() == WIRE


def test_another_program_reads_the_connect_that_we_write():
    read = read_by_amqtt(ConnectPacket, CONNECT.encode())
    assert (read.client_id, read.keep_alive, read.clean_session_flag) == ("robot", 60, True)
    assert (read.will_topic, read.will_message, read.will_qos) == ("soul/terminal/lamp/online", b"offline", 1)
    assert (read.will_retain_flag, read.username) == (True, "me")


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("will", [None, Will("主题", "再见".encode(), 2, False)])
@pytest.mark.parametrize(("username", "password"), [(None, None), ("ann", None), ("ann", b""), ("", b"x")])
def test_a_connect_comes_back_as_it_was_written(clean, will, username, password):
    connect = replace(CONNECT, clean=clean, will=will, username=username, password=password)
    assert Connect.decode(one(connect.encode())) == connect


@given(topic=TEXTS, payload=st.binary(max_size=300), qos=st.integers(0, 2), retain=st.booleans(), again=st.booleans())
def test_a_message_comes_back_as_it_was_written(topic, payload, qos, retain, again):
    message = Publish(topic, payload, qos, retain, again, packet_id=513 if qos else 0)
    assert Publish.decode(one(message.encode())) == message


def test_another_program_reads_the_messages_and_acknowledgements_that_we_write():
    read = read_by_amqtt(PublishPacket, Publish("soul/terminal/灯/input", b"{}", 1, True, False, 7).encode())
    assert (read.topic_name, read.data, read.qos, read.retain_flag) == ("soul/terminal/灯/input", b"{}", 1, True)
    assert read.packet_id == 7
    assert read_by_amqtt(PubackPacket, puback(513)).packet_id == 513
    codes = read_by_amqtt(SubackPacket, SubAck(7, [0, 1, FAILURE]).encode())
    assert (codes.variable_header.packet_id, codes.payload.return_codes) == (7, [0, 1, FAILURE])
    refused = read_by_amqtt(ConnackPacket, refuse_connect(ConnectCode.NOT_ALLOWED))
    assert (refused.return_code, refused.session_parent) == (5, 0)


def test_subscriptions_come_back_and_another_program_reads_them():
    wanted = Subscribe(9, (Subscription("soul/terminal/灯/#", 1), Subscription("soul/terminal/+/reply", 0)))
    assert Subscribe.decode(one(wanted.encode())) == wanted
    read = read_by_amqtt(SubscribePacket, wanted.encode())
    assert read.payload.topics == [("soul/terminal/灯/#", 1), ("soul/terminal/+/reply", 0)]


def test_what_another_program_writes_is_read():
    packet = UnsubscribePacket.build(["a/b", "灯/#"], 3)
    assert unsubscribed(one(bytes(packet.to_bytes()))) == ["a/b", "灯/#"]
    packet = SubackPacket.build(4, [1, 128])
    assert SubAck.decode(one(bytes(packet.to_bytes()))) == SubAck(4, [1, 128])


def test_the_refusal_of_version_5_is_written_in_version_5():
    packet = one(refuse_version_5("no"))
    assert packet == Packet(Kind.CONNACK, 0, bytes([0, 0x84, 5, 0x1F, 0, 2]) + b"no")


@given(st.lists(st.binary(max_size=400), max_size=6), st.lists(st.integers(1, 500), max_size=20))
def test_packets_are_found_however_the_stream_is_cut(bodies, cuts):
    sent = [Packet(Kind.PUBLISH, 0, body) for body in bodies]
    stream = b"".join(packet.encode() for packet in sent)
    buffer = PacketBuffer(1000)
    found = []
    for cut in [*cuts, len(stream)]:
        found += buffer.feed(stream[:cut])
        stream = stream[cut:]
    assert found == sent


@pytest.mark.parametrize("step", [1, 7, 1000, 10_000])
def test_of_a_packet_that_is_too_long_the_beginning_is_kept_and_the_rest_skipped(step):
    long, short = Packet(Kind.PUBLISH, 2, bytes(range(256)) * 20), Packet(Kind.PINGREQ, 0, b"")
    stream = long.encode() + short.encode()
    buffer = PacketBuffer(100)
    found = [packet for at in range(0, len(stream), step) for packet in buffer.feed(stream[at : at + step])]
    assert found == [Packet(Kind.PUBLISH, 2, bytes(range(100)), whole=False), short]


def test_a_packet_at_the_limit_is_whole():
    assert packets(Packet(3, 0, b"x" * 100).encode(), limit=100)[0].whole
    assert not packets(Packet(3, 0, b"x" * 101).encode(), limit=100)[0].whole


@pytest.mark.parametrize(
    ("read", "packet"),
    [
        (Publish.decode, Packet(3, 0, b"\0\x05abc")),
        (Publish.decode, Packet(3, 2, b"\0\x01a\0")),
        (Publish.decode, Packet(3, 6, b"\0\x01a\0\1")),
        (Publish.decode, Packet(3, 0, b"\0\x02\xff\xfe")),
        (Publish.decode, Packet(3, 0, b"\0\x02a\0")),
        (Subscribe.decode, Packet(8, 2, b"\0\1\0\1a")),
        (Subscribe.decode, Packet(8, 2, b"\0\1\0\1a\3")),
        (Connect.decode, Packet(1, 0, b"\0\4MQTT\4")),
        (Connect.decode, Packet(1, 0, b"\0\4MQTT\4\2\0\0\0\1")),
        (protocol_of, Packet(1, 0, b"")),
        (unsubscribed, Packet(10, 2, b"\0\1\0\7a")),
        (packets, b"\x10\xff\xff\xff\xff\x01"),
    ],
)
def test_what_is_no_mqtt_is_refused(read, packet):
    with pytest.raises(InvalidInput, match="no MQTT"):
        read(packet)
