"""The embedded broker: which ports it takes, and whom it lets in."""

import logging
import socket
from urllib.parse import urlsplit

import pytest
import websockets

from soulgraph.errors import ConfigurationError
from soulgraph.terminals import embedded
from soulgraph.terminals.embedded import embedded_broker
from soulgraph.tests.live import free_port


@pytest.fixture
def taken():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


async def test_a_usual_port_that_is_taken_is_left_for_the_next_and_the_log_says_so(taken, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "soulgraph.terminals.embedded")
    monkeypatch.setattr(embedded, "MQTT_PORT", taken)
    async with embedded_broker(None, 0) as addresses:
        assert taken < urlsplit(addresses.mqtt).port < taken + 10
    assert f"port {taken} is taken" in caplog.text
    assert addresses.mqtt in caplog.text


async def test_a_port_that_was_asked_for_is_used_or_is_an_error(taken):
    wanted = free_port()
    async with embedded_broker(wanted, 0) as addresses:
        assert addresses.mqtt == f"mqtt://127.0.0.1:{wanted}"
    for ports, setting in (((taken, 0), "SOULGRAPH_MQTT_PORT"), ((0, taken), "SOULGRAPH_MQTT_WEBSOCKET_PORT")):
        with pytest.raises(ConfigurationError, match=f"^{setting}: cannot listen on 127.0.0.1:{taken}"):
            async with embedded_broker(*ports):
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
    async with embedded_broker(0, 0) as addresses:
        connecting = websockets.connect(addresses.websocket, origin=origin, subprotocols=["mqtt"], proxy=None)
        if allowed:
            async with connecting as page:
                assert page.subprotocol == "mqtt"
        else:
            with pytest.raises(websockets.InvalidStatus, match="403"):
                await connecting
