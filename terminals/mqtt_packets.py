"""The packets of MQTT 3.1.1, as far as whoever passes them on must look into them. The others stay bytes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Self

from soulgraph.errors import InvalidInput
from soulgraph.terminals.mqtt_framing import Kind, Packet, variable_length

PROTOCOL = "MQTT"
LEVEL, LEVEL_5 = 4, 5
FAILURE = 0x80
"""The code of a refused subscription in SUBACK."""
MAX_FILTERS = 1000
"""Topic filters in one packet."""

_SUBSCRIBE_FLAGS = 0b0010
_CLEAN, _WILL, _WILL_RETAIN, _PASSWORD, _USERNAME = 0x02, 0x04, 0x20, 0x40, 0x80
_UNSUPPORTED_VERSION_5, _REASON_STRING = 0x84, 0x1F


class _Body:
    """Reads the body of a packet from its beginning."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> bytes:
        taken = self._data[self._at : self._at + count]
        if len(taken) < count:
            raise InvalidInput("this is no MQTT: a packet is shorter than it says")
        self._at += count
        return taken

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        return int.from_bytes(self.take(2), "big")

    def binary(self) -> bytes:
        return self.take(self.number())

    def text(self) -> str:
        try:
            text = self.binary().decode()
        except UnicodeDecodeError as error:
            raise InvalidInput("this is no MQTT: a text is not UTF-8") from error
        if "\0" in text:
            raise InvalidInput("this is no MQTT: a text has a NUL character")
        return text

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def __bool__(self) -> bool:
        return self._at < len(self._data)


def _binary(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data


def _text(text: str) -> bytes:
    return _binary(text.encode())


def protocol_of(connect: Packet) -> tuple[str, int]:
    """(name, level) of the protocol that a CONNECT is written in; of all levels the beginning is the same."""
    body = _Body(connect.body)
    return body.text(), body.byte()


class Will(NamedTuple):
    topic: str
    payload: bytes
    qos: int
    retain: bool


@dataclass(frozen=True, slots=True)
class Connect:
    client_id: str
    keepalive_s: int
    clean: bool = True
    will: Will | None = None
    username: str | None = None
    password: bytes | None = None

    @classmethod
    def decode(cls, packet: Packet) -> Self:
        """From a packet of MQTT 3.1.1; `protocol_of` tells whether it is one."""
        body = _Body(packet.body)
        body.text()
        body.byte()
        flags = body.byte()
        keepalive_s = body.number()
        client_id = body.text()
        will = Will(body.text(), body.binary(), _qos(flags >> 3), bool(flags & _WILL_RETAIN)) if flags & _WILL else None
        username = body.text() if flags & _USERNAME else None
        password = body.binary() if flags & _PASSWORD else None
        return cls(client_id, keepalive_s, bool(flags & _CLEAN), will, username, password)

    def encode(self) -> bytes:
        flags = _CLEAN if self.clean else 0
        payload = _text(self.client_id)
        if self.will:
            flags |= _WILL | self.will.qos << 3 | (_WILL_RETAIN if self.will.retain else 0)
            payload += _text(self.will.topic) + _binary(self.will.payload)
        if self.username is not None:
            flags |= _USERNAME
            payload += _text(self.username)
        if self.password is not None:
            flags |= _PASSWORD
            payload += _binary(self.password)
        head = _text(PROTOCOL) + bytes([LEVEL, flags]) + self.keepalive_s.to_bytes(2, "big")
        return Packet(Kind.CONNECT, 0, head + payload).encode()


@dataclass(frozen=True, slots=True)
class Publish:
    """`packet_id` is 0 for QoS 0, which has none."""

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    duplicate: bool = False
    packet_id: int = 0

    @classmethod
    def decode(cls, packet: Packet) -> Self:
        body = _Body(packet.body)
        qos = _qos(packet.flags >> 1)
        topic = body.text()
        packet_id = body.number() if qos else 0
        return cls(topic, body.rest(), qos, bool(packet.flags & 1), bool(packet.flags & 8), packet_id)

    def encode(self) -> bytes:
        flags = self.duplicate << 3 | self.qos << 1 | self.retain
        packet_id = self.packet_id.to_bytes(2, "big") if self.qos else b""
        return Packet(Kind.PUBLISH, flags, _text(self.topic) + packet_id + self.payload).encode()


def _qos(flags: int) -> int:
    if (qos := flags & 0b11) > 2:
        raise InvalidInput("this is no MQTT: there is no QoS 3")
    return qos


class Subscription(NamedTuple):
    topic_filter: str
    qos: int


@dataclass(frozen=True, slots=True)
class Subscribe:
    packet_id: int
    subscriptions: tuple[Subscription, ...]

    @classmethod
    def decode(cls, packet: Packet) -> Self:
        body = _Body(packet.body)
        packet_id = body.number()
        subscriptions: list[Subscription] = []
        while body:
            _check_count(len(subscriptions))
            subscriptions.append(Subscription(body.text(), _qos(body.byte())))
        return cls(packet_id, tuple(subscriptions))

    def encode(self) -> bytes:
        filters = b"".join(_text(one.topic_filter) + bytes([one.qos]) for one in self.subscriptions)
        return Packet(Kind.SUBSCRIBE, _SUBSCRIBE_FLAGS, self.packet_id.to_bytes(2, "big") + filters).encode()


def unsubscribed(packet: Packet) -> list[str]:
    """The topic filters of an UNSUBSCRIBE."""
    body = _Body(packet.body)
    body.number()
    filters: list[str] = []
    while body:
        _check_count(len(filters))
        filters.append(body.text())
    return filters


def _check_count(filters: int) -> None:
    """A packet of the greatest length has room for so many that reading them all would hold up everybody else."""
    if filters >= MAX_FILTERS:
        raise InvalidInput(f"a packet may have {MAX_FILTERS} topic filters at most")


class SubAck(NamedTuple):
    """The granted QoS of each subscription, or `FAILURE`."""

    packet_id: int
    codes: Sequence[int]

    @classmethod
    def decode(cls, packet: Packet) -> Self:
        body = _Body(packet.body)
        return cls(body.number(), list(body.rest()))

    def encode(self) -> bytes:
        return Packet(Kind.SUBACK, 0, self.packet_id.to_bytes(2, "big") + bytes(self.codes)).encode()


def packet_id_of(packet: Packet) -> int:
    """The id with which most packets begin."""
    return _Body(packet.body).number()


def acknowledge(kind: Kind, packet_id: int) -> bytes:
    """A packet that says nothing but what it is for."""
    return Packet(kind, 0, packet_id.to_bytes(2, "big")).encode()


def puback(packet_id: int) -> bytes:
    return acknowledge(Kind.PUBACK, packet_id)


class ConnectCode(IntEnum):
    """Why a connection is refused."""

    WRONG_VERSION = 1
    UNAVAILABLE = 3
    WRONG_PASSWORD = 4
    NOT_ALLOWED = 5


CONNECTED = Packet(Kind.CONNACK, 0, bytes(2)).encode()
PONG = Packet(Kind.PINGRESP, 0, b"").encode()


def refuse_connect(code: ConnectCode) -> bytes:
    return Packet(Kind.CONNACK, 0, bytes([0, code])).encode()


def refuse_version_5(why: str) -> bytes:
    """In the form of MQTT 5, because its clients do not read the older one. `why` is for people."""
    reason = bytes([_REASON_STRING]) + _text(why)
    properties = variable_length(len(reason)) + reason
    return Packet(Kind.CONNACK, 0, bytes([0, _UNSUPPORTED_VERSION_5]) + properties).encode()
