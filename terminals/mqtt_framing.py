"""MQTT as a stream of bytes: where one packet ends and the next begins."""

from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from soulgraph.errors import InvalidInput

_MAX_LENGTH_BYTES = 4


class Kind(IntEnum):
    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    PUBREC = 5
    PUBREL = 6
    PUBCOMP = 7
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14


class Packet(NamedTuple):
    """`whole` is false if it was longer than the buffer's limit: then `body` is only its beginning."""

    kind: int
    flags: int
    body: bytes
    whole: bool = True

    def encode(self) -> bytes:
        return bytes([self.kind << 4 | self.flags]) + variable_length(len(self.body)) + self.body


class PacketBuffer:
    """Cuts a stream of bytes into packets, however they arrive, and keeps at most `limit` bytes of each."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._data = bytearray()
        self._excess = 0
        """Bytes still to come of a packet that was too long."""

    @property
    def is_inside_packet(self) -> bool:
        """Whether the rest of a packet has yet to come."""
        return bool(self._data) or self._excess > 0

    def feed(self, data: bytes) -> Iterator[Packet]:
        """The packets that are complete with this data; InvalidInput if it is no MQTT."""
        skipped = min(self._excess, len(data))
        self._excess -= skipped
        self._data += memoryview(data)[skipped:]
        while packet := self._next():
            yield packet

    def _next(self) -> Packet | None:
        if (header := _header(self._data)) is None:
            return None
        start, length = header
        end = start + min(length, self.limit)
        if len(self._data) < end:
            return None
        first = self._data[0]
        packet = Packet(first >> 4, first & 0x0F, bytes(self._data[start:end]), whole=length <= self.limit)
        excess = start + length - end
        self._excess = max(0, excess - (len(self._data) - end))
        del self._data[: end + excess]
        return packet


def _header(data: bytearray) -> tuple[int, int] | None:
    """(where the body starts, its length) of the packet at the beginning; None while that is incomplete."""
    length = 0
    for place, byte in enumerate(data[1 : 1 + _MAX_LENGTH_BYTES]):
        length |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return place + 2, length
    if len(data) > _MAX_LENGTH_BYTES:
        raise InvalidInput("this is no MQTT: a length has at most four bytes")
    return None


def variable_length(length: int) -> bytes:
    encoded = bytearray()
    while length > 0x7F:
        encoded.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([*encoded, length])
