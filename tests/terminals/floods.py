"""Floods against a broker, from a thread of their own, and how long they hold up the event loop."""

import asyncio
import gc
import random
import socket
import time
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

from soulgraph.terminals.mqtt_framing import Kind, Packet
from soulgraph.terminals.mqtt_packets import Connect, Publish, Subscribe, Subscription


class Rounds:
    """Measures the processor time that each round of the event loop takes. What other threads do is not counted."""

    def __init__(self):
        self.longest_s = 0.0
        self._last = time.thread_time()
        self._handle = None

    def _look(self):
        now = time.thread_time()
        self.longest_s = max(self.longest_s, now - self._last)
        self._last = now
        self._handle = asyncio.get_running_loop().call_soon(self._look)

    @classmethod
    @contextmanager
    def measured(cls):
        gc.collect()
        gc.disable()  # a collection goes through whatever the test process has loaded
        rounds = cls()
        rounds._look()
        try:
            yield rounds
        finally:
            rounds._handle.cancel()
            gc.enable()


class Flood:
    """Connections that stay open until the end of the block."""

    def __init__(self, url):
        where = urlsplit(url)
        self._address = where.hostname, where.port
        self._stack = ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._stack.close()

    def connection(self, *data):
        """A connection on which this was sent, as far as the broker took it."""
        one = self._stack.enter_context(socket.create_connection(self._address, timeout=10))
        with suppress(OSError):
            for part in data:
                one.sendall(part)
        return one

    def client(self, *data):
        """The same after a CONNECT that was accepted."""
        one = self.connection(Connect("", 0).encode())
        assert one.recv(4) == b"\x20\x02\0\0"
        with suppress(OSError):
            for part in data:
                one.sendall(part)
        return one


def of_connections(flood):
    for _ in range(300):
        flood.connection().close()


def of_half_packets(flood):
    for _ in range(300):
        flood.connection(b"\x10\xff\x7f")


def of_huge_packets(flood):
    huge = Publish("soul/terminal/lamp/skills", b"x" * 60_000_000, 1, True, packet_id=1).encode()
    for _ in range(2):
        flood.client(huge)


def of_nonsense(flood):
    chance = random.Random(7)
    for _ in range(100):
        flood.connection(chance.randbytes(1000))
        flood.client(chance.randbytes(1000)).close()


def of_messages_for_many(flood):
    listening = Subscribe(1, (Subscription("soul/terminal/#", 1),)).encode()
    talking = Publish("soul/terminal/lamp/reply", b"1").encode() * 300
    for _ in range(100):
        flood.client(listening)
    for _ in range(5):
        flood.client(talking)


def of_filters(flood):
    """A thousand that match none of what is retained, and more than a thousand in one packet."""
    flood.client(b"".join(Publish(f"soul/terminal/{n}/skills", b"1", retain=True).encode() for n in range(500)))
    wanted = tuple(Subscription(f"soul/terminal/+/{n}", 0) for n in range(1000))
    endless = Packet(Kind.SUBSCRIBE, 2, b"\0\1" + b"\0\1#\0" * 60_000).encode()
    for _ in range(4):
        flood.client(Subscribe(1, wanted).encode())
        flood.client(endless)


def of_pings_whose_answers_nobody_reads(flood):
    for _ in range(3):
        one = flood.client()
        one.settimeout(0.2)
        with suppress(OSError):
            for _ in range(50):
                one.sendall(bytes([Kind.PINGREQ << 4, 0]) * 10_000)


FLOODS = [
    of_connections,
    of_half_packets,
    of_huge_packets,
    of_nonsense,
    of_messages_for_many,
    of_filters,
    of_pings_whose_answers_nobody_reads,
]


async def run(kind, url):
    def begin():
        with Flood(url) as flood:
            kind(flood)

    await asyncio.to_thread(begin)
