"""A TCP connection to a broker that speaks MQTT byte by byte."""

import asyncio
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from soulgraph.terminals.mqtt_framing import Kind, PacketBuffer
from soulgraph.terminals.mqtt_packets import Connect, Publish, SubAck, Subscribe, Subscription

TIMEOUT_S = 10


class Wire:
    def __init__(self, reader, writer):
        self._reader = reader
        self.writer = writer
        self._buffer = PacketBuffer(10_000_000)
        self._packets = []

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def packet(self):
        """The next packet; None if the broker has ended the connection."""
        async with asyncio.timeout(TIMEOUT_S):
            while not self._packets:
                if not (data := await self._read()):
                    return None
                self._packets += self._buffer.feed(data)
        return self._packets.pop(0)

    async def _read(self):
        try:
            return await self._reader.read(65536)
        except ConnectionError:
            return b""

    async def ended(self):
        """Wait until the broker has ended the connection; returns the packets that came before."""
        packets = []
        while packet := await self.packet():
            packets.append(packet)
        return packets

    async def connected(self, client_id="", **fields):
        await self.send(Connect(client_id, fields.pop("keepalive_s", 60), **fields).encode())
        assert (await self.packet()).body == b"\0\0"
        return self

    async def subscribe(self, *filters, qos=1):
        """The codes with which the broker answers."""
        await self.send(Subscribe(1, tuple(Subscription(one, qos) for one in filters)).encode())
        answer = await self.packet()
        assert answer.kind == Kind.SUBACK
        return list(SubAck.decode(answer).codes)

    async def publish(self, topic, payload=b"{}", qos=0, **fields):
        await self.send(Publish(topic, payload, qos, packet_id=fields.pop("packet_id", 7), **fields).encode())

    async def published(self, topic, payload=b"{}", **fields):
        """Publish, and wait until the broker has done with it."""
        await self.publish(topic, payload, 1, **fields)
        assert (await self.packet()).kind == Kind.PUBACK

    async def heard(self):
        """The next message."""
        return Publish.decode(await self.packet())

    def break_off(self):
        """As when the process dies."""
        self.writer.transport.abort()


@asynccontextmanager
async def wired(url):
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        yield Wire(reader, writer)
    finally:
        writer.close()


@asynccontextmanager
async def client(url, client_id="", **fields):
    async with wired(url) as wire:
        yield await wire.connected(client_id, **fields)
