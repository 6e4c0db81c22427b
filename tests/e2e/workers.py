"""A server of several real processes for tests: which they are, what they log, and how they end."""

import asyncio
import os
import re
import signal
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from soulgraph.tests.live import ServerProcess
from soulgraph.tests.terminals.brokers import eventually

START_S = 120
"""For several processes on a machine that has other things to do."""


class Workers(ServerProcess):
    """`folder` is where they log to, each into a file of its own."""

    def __init__(self, folder, workers=2, **settings):
        self.folder = folder
        log = {"log_level": "debug", "log_file": str(folder / "server.log")}
        super().__init__(workers=str(workers), data_dir=str(folder / "data"), **log, **settings)
        self._workers = workers

    @property
    def pids(self):
        """Of every process by its name, the newest of each; without the supervisor."""
        log = (self.folder / "server.log").read_text()
        return {name: int(pid) for name, pid in re.findall(r"soulgraph: ([\w ]+) is ready: process (\d+)", log)}

    async def all_ready(self):
        await eventually(lambda: f"worker {self._workers}" in self.pids, START_S)
        return self.pids

    def has_answered(self, number, path):
        return f'"GET {path} ' in (self.folder / f"server-{number}.log").read_text()

    def returned(self, name, before):
        return self.pids[name] != before[name]

    async def all_gone(self, pids):
        await eventually(lambda: not any(map(runs, pids.values())), 60)


@asynccontextmanager
async def workers(folder, **settings):
    server = Workers(folder, **settings)
    try:
        await server.start()
        await server.all_ready()
        yield server
    finally:
        if runs(server.pid):
            server.kill()
        await server.all_gone(server.pids)


def runs(pid):
    """Whether there is such a process, and not only what is left of it until somebody asks how it ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def kill(pid):
    os.kill(pid, signal.SIGKILL)


async def ask(url, path):
    """On a connection of its own: so it may be any of the workers that answers."""
    async with httpx.AsyncClient(base_url=url, timeout=30, verify=False) as client:
        return (await client.get(path)).raise_for_status()


async def until_all_have_answered(server, path, numbers=(1, 2)):
    async with asyncio.timeout(30):
        while not all(server.has_answered(number, path) for number in numbers):
            await ask(server.url, path)
