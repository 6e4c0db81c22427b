"""The two programs of the page on terminals: they obey each time they are started, on either broker, with a key."""

import asyncio
import os
import re
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from soulgraph.tests.e2e.keyring import made
from soulgraph.tests.live import free_port, new_soul, say, serving
from soulgraph.tests.terminals.brokers import program, running

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "terminals.md").read_text("utf-8")
PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
TIMEOUT_S = 60


def sample(language):
    return re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)[1]


@pytest.fixture(params=["embedded", "mosquitto"])
async def house(request, tmp_path):
    """A server with a soul, and the ports of its broker; on the embedded one a key is needed."""
    client_ports = {"mqtt_port": free_port(), "mqtt_websocket_port": free_port()}
    if request.param == "embedded":
        async with serving(data_dir=tmp_path, mqtt_url="", **client_ports) as client:
            await new_soul(client)
            client.headers.update(await made(client, "admin", "owner"))
            yield client, *client_ports.values()
    else:
        options = "allow_anonymous true", f"listener {client_ports['mqtt_websocket_port']} 127.0.0.1"
        async with (
            running(tmp_path, *options, "protocol websockets") as broker,
            serving(data_dir=tmp_path, mqtt_url=broker.url) as client,
        ):
            await new_soul(client)
            yield client, broker.port, client_ports["mqtt_websocket_port"]


@asynccontextmanager
async def started(client, *command):
    key = client.headers.get("Authorization", "").removeprefix("Bearer ")
    environment = {**os.environ, "SOULGRAPH_API_KEY": key} if key else {**os.environ}
    process = await asyncio.create_subprocess_exec(*command, env=environment, **PIPES)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        _, complaints = await process.communicate()
        assert complaints == b""


async def obeys(process, client, terminal_id):
    """Ask until the program does it: it may not be there yet."""
    done = asyncio.create_task(_did(process, b"intent_action"))
    async with asyncio.timeout(TIMEOUT_S):
        while not done.done():
            row = (await client.get(f"/v1/terminals/{terminal_id}")).json()
            if row.get("catalog_version") and row["soul_id"]:
                answer = await say(client, "开灯", terminal_id=terminal_id)
                assert answer["executed_skills"] == ["light_on"]
            await asyncio.wait({done}, timeout=0.3)
    assert done.result(), "the program has ended"


async def _did(process, what):
    async for line in process.stdout:
        if line.startswith(what):
            return True
    return False


async def test_the_one_in_python(house):
    client, port, _ = house
    for _ in range(2):
        async with started(client, sys.executable, "-W", "error", "-c", sample("python"), str(port)) as lamp:
            await obeys(lamp, client, "desk-lamp")


async def test_the_one_in_javascript(house, tmp_path):
    client, _, port = house
    packages = ROOT / "web" / "node_modules"
    if not (packages / "mqtt").is_dir():
        pytest.skip("mqtt.js is not installed: run `make studio`")
    (tmp_path / "node_modules").symlink_to(packages)
    screen = tmp_path / "screen.mjs"
    screen.write_text(sample("js").replace("ws://127.0.0.1:9001", f"ws://127.0.0.1:{port}"), "utf-8")
    for _ in range(2):
        async with started(client, program("node"), str(screen)) as process:
            await obeys(process, client, "desk-screen")
