"""The ACL of the page on terminals, in a real Mosquitto: each terminal is confined to its own topics."""

import asyncio
import base64
import hashlib
import re
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import aiomqtt
import pytest

from soulgraph.terminals.hub import MqttHub
from soulgraph.tests.terminals.brokers import eventually, running

PAGE = Path(__file__).parents[2] / "docs" / "terminals.md"
SALT = b"0123456789ab"


def entry(name):
    """A line of a password file; everybody's password is the name."""
    digest = hashlib.pbkdf2_hmac("sha512", name.encode(), SALT, 101)
    return "$".join([f"{name}:", "7", "101", base64.b64encode(SALT).decode(), base64.b64encode(digest).decode()])


@pytest.fixture
async def broker(tmp_path):
    (tmp_path / "acl").write_text(re.search(r"```acl\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1])
    (tmp_path / "passwords").write_text("".join(f"{entry(name)}\n" for name in ("soulgraph", "lamp", "fan")))
    files = f"password_file {tmp_path / 'passwords'}", f"acl_file {tmp_path / 'acl'}"
    async with running(tmp_path, "allow_anonymous false", *files) as broker:
        yield broker


@asynccontextmanager
async def login(broker, name):
    where = urlsplit(broker.url)
    async with aiomqtt.Client(where.hostname, where.port, username=name, password=name) as client:
        yield client


async def test_a_terminal_speaks_and_hears_for_itself_alone(broker):
    received, delivered = [], []
    url = broker.url.replace("//", "//soulgraph:soulgraph@")

    async def listen(client):
        while True:
            delivered.append((await anext(client.messages)).topic.value)

    async with (
        MqttHub.open(url, lambda topic, payload: received.append(topic)),
        login(broker, "soulgraph") as server,
        login(broker, "lamp") as lamp,
    ):
        await lamp.subscribe("soul/terminal/#", qos=1)
        listening = asyncio.create_task(listen(lamp))
        kinds = ("online", "heartbeat", "skills", "intent_catalog", "input", "result/use_1")
        for terminal_id in ("fan", "lamp"):
            for kind in kinds:
                await lamp.publish(f"soul/terminal/{terminal_id}/{kind}", "x", qos=1)
        down = ("emotion_update", "emotion_compact", "intent_action", "invoke/use_1", "reply", "proactive", "status")
        for terminal_id in ("fan", "lamp"):
            for kind in down:
                await server.publish(f"soul/terminal/{terminal_id}/{kind}", "x", qos=1)
        await eventually(
            lambda: "soul/terminal/lamp/result/use_1" in received and "soul/terminal/lamp/status" in delivered
        )
        listening.cancel()
    assert sorted(received) == sorted(f"soul/terminal/lamp/{kind}" for kind in kinds)
    assert sorted(delivered) == sorted(f"soul/terminal/lamp/{kind}" for kind in down)
