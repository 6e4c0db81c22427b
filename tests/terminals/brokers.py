"""Brokers that a test starts for itself and may kill."""

import asyncio
import shutil
import signal
import socket
import subprocess
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiomqtt
import pytest

from soulgraph.terminals.embedded import embedded_broker
from soulgraph.terminals.embedded_host import AllRights
from soulgraph.terminals.rules import Login
from soulgraph.tests import services
from soulgraph.tests.live import free_port


def program(name):
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")
    if not found:
        (pytest.fail if services.REQUIRED else pytest.skip)(f"{name} is not installed")
    return found


class Mosquitto:
    """A Mosquitto with persistence: after `remember`, its sessions survive being killed."""

    def __init__(self, folder, *options, port=None):
        self.port = port or free_port()
        self.url = f"mqtt://127.0.0.1:{self.port}"
        self._store = folder / "mosquitto.db"
        self._config = folder / "mosquitto.conf"
        lines = [f"listener {self.port} 127.0.0.1", "user root", "persistence true", f"persistence_location {folder}/"]
        self._config.write_text("\n".join([*lines, *(options or ["allow_anonymous true"])]) + "\n")
        self._process = None

    async def start(self):
        command = [program("mosquitto"), "-c", str(self._config)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        await eventually(self._answers)

    async def remember(self):
        self.signal(signal.SIGUSR1)
        await eventually(self._store.exists)

    def signal(self, number):
        self._process.send_signal(number)

    def kill(self):
        self._process.kill()
        self._process.wait()

    def _answers(self):
        assert self._process.poll() is None, "mosquitto ended at start-up"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@asynccontextmanager
async def running(folder, *options):
    broker = Mosquitto(folder, *options)
    await broker.start()
    try:
        yield broker
    finally:
        broker.kill()


class Anybody:
    """Lets everybody do everything, as an open server does."""

    async def login(self, password):
        return Login("open", "anybody", AllRights())


def open_broker(port=0, websocket_port=0):
    return embedded_broker(port, websocket_port, Anybody())


@asynccontextmanager
async def any_broker(kind, folder):
    """The URL of an empty broker of this kind, for as long as the block lasts."""
    if kind == "embedded":
        async with open_broker() as addresses:
            yield addresses.mqtt
    else:
        async with running(folder) as broker:
            yield broker.url


def independent(url, **options):
    """A plain aiomqtt client. A lost connection that nobody awaits is not reported by asyncio."""
    where = urlsplit(url)
    client = aiomqtt.Client(where.hostname, where.port or 1883, **options)
    client._disconnected.add_done_callback(lambda lost: lost.cancelled() or lost.exception())
    return client


async def eventually(is_so, timeout_s=30):
    async with asyncio.timeout(timeout_s):
        while not is_so():
            await asyncio.sleep(0.01)
