"""The embedded broker: which ports it takes, and whom it lets in."""

import asyncio
import gc
import logging
import socket
import struct
from urllib.parse import urlsplit

import pytest
import websockets

from soulgraph.errors import ConfigurationError
from soulgraph.terminals import listening
from soulgraph.tests.live import free_port
from soulgraph.tests.terminals.brokers import independent, open_broker

WHO_I_AM = b"\x10\x0d\x00\x04MQTT\x04\x02\x00\x3c\x00\x01a"
WELCOME = b"\x20\x02\x00\x00"


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


async def test_a_usual_port_that_is_taken_is_left_for_the_next_and_the_log_says_so(taken, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "soulgraph.terminals")
    monkeypatch.setattr(listening, "MQTT_PORT", taken)
    async with open_broker(None, 0) as addresses:
        assert taken < urlsplit(addresses.mqtt).port < taken + 10
    assert f"port {taken} is taken" in caplog.text
    assert addresses.mqtt in caplog.text


async def test_a_port_that_was_asked_for_is_used_or_is_an_error(taken):
    wanted = free_port()
    async with open_broker(wanted, 0) as addresses:
        assert addresses.mqtt == f"mqtt://127.0.0.1:{wanted}"
    for ports, setting in (((taken, 0), "SOULGRAPH_MQTT_PORT"), ((0, taken), "SOULGRAPH_MQTT_WEBSOCKET_PORT")):
        with pytest.raises(ConfigurationError, match=f"^{setting}: cannot listen on 127.0.0.1:{taken}"):
            async with open_broker(*ports):
                pass


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        (None, True),
        ("http://localhost:8000", True),
        ("https://127.0.0.1", True),
        ("http://evil.example", False),
        ("http://localhost.evil.example", False),
        ("null", False),
    ],
)
async def test_of_pages_only_those_of_this_machine_may_connect(origin, allowed):
    async with open_broker() as addresses:
        connecting = websockets.connect(addresses.websocket, origin=origin, subprotocols=["mqtt"], proxy=None)
        if allowed:
            async with connecting as page:
                assert page.subprotocol == "mqtt"
        else:
            with pytest.raises(websockets.InvalidStatus, match="403"):
                await connecting


async def stranger(addresses):
    caller = socket.socket()
    caller.setblocking(False)
    await asyncio.get_running_loop().sock_connect(caller, ("127.0.0.1", urlsplit(addresses.mqtt).port))
    return caller


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.0\r\n\r\n", WHO_I_AM], ids=["nothing", "nonsense", "who it is"])
async def test_a_client_that_breaks_off_leaves_no_connection_open(said, recwarn):
    """The client half-closes and then resets the connection, as its system does when the process dies."""
    async with open_broker() as addresses:
        with await stranger(addresses) as caller:
            loop = asyncio.get_running_loop()
            await loop.sock_sendall(caller, said)
            if said == WHO_I_AM:
                assert await loop.sock_recv(caller, 100) == WELCOME
            caller.shutdown(socket.SHUT_WR)
            caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await asyncio.sleep(0.1)
    gc.collect()
    assert [str(warning.message) for warning in recwarn] == []


async def test_whoever_is_still_there_at_the_end_is_parted_from_even_if_nobody_knows_who_it_is():
    async with open_broker() as addresses:
        caller = await stranger(addresses)
        await asyncio.sleep(0.1)
    with caller:
        async with asyncio.timeout(5):
            assert await asyncio.get_running_loop().sock_recv(caller, 100) == b""


async def test_who_connects_while_others_come_and_go_is_served():
    async with open_broker() as addresses:
        async with independent(addresses.mqtt) as first:
            for n in range(30):
                await first.publish(f"soul/terminal/{n}/online", "online", qos=1, retain=True)

        async def come_and_go(n):
            for visit in range(5):
                async with independent(addresses.mqtt) as client:
                    await client.subscribe(f"soul/terminal/{n}/{visit}/#", qos=1, timeout=5)
                    await client.subscribe(f"soul/terminal/{n}/#", qos=1, timeout=5)

        await asyncio.gather(*map(come_and_go, range(20)))
