"""What the soak is run on: servers that are killed, a database behind a line that is cut, a broker, and a clock."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from soulgraph.bench.reminders import BEGIN, SharedClock
from soulgraph.tests.forks import FORKS
from soulgraph.tests.live import free_port

_CHUNK = 64 * 1024
_START_S = 60.0


@dataclass
class Line:
    """A way to the database that can be cut, or go silent."""

    host: str
    port: int
    local_port: int = 0
    open: bool = True
    _flowing: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Line"]:
        self._flowing.set()
        server = await asyncio.start_server(self._accept, "127.0.0.1", self.local_port)
        self.local_port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            self.cut()

    def cut(self) -> None:
        """End every connection, and accept none until `mend`."""
        self.open = False
        for writer in self._writers:
            writer.transport.abort()

    def silence(self) -> None:
        """Nothing passes any more, and nobody is told."""
        self._flowing.clear()

    def mend(self) -> None:
        self.open = True
        self._flowing.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.open:
            writer.transport.abort()
            return
        there_reader, there_writer = await asyncio.open_connection(self.host, self.port)
        both = {writer, there_writer}
        self._writers |= both
        try:
            await asyncio.gather(self._pass(reader, there_writer), self._pass(there_reader, writer))
        finally:
            self._writers -= both
            for one in both:
                one.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(_CHUNK):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
        with suppress(OSError):
            writer.close()


@dataclass
class RunningClock:
    """Epoch seconds that go on as time does, in a file that all servers read; a jump is a jump for all of them."""

    shared: SharedClock
    now: float = BEGIN
    latest: float = BEGIN

    @asynccontextmanager
    async def running(self) -> AsyncIterator["RunningClock"]:
        self.shared.set(self.now)
        ticking = asyncio.create_task(self._go_on())
        try:
            yield self
        finally:
            ticking.cancel()

    def jump(self, seconds: float) -> None:
        self.now += seconds
        self._set()

    async def _go_on(self) -> None:
        looked_at = time.monotonic()
        while True:
            await asyncio.sleep(0.02)
            self.now += time.monotonic() - looked_at
            looked_at = time.monotonic()
            self._set()

    def _set(self) -> None:
        self.latest = max(self.latest, self.now)
        self.shared.set(self.now)


class Server:
    """A server process on a port of its own, started again whenever it has ended."""

    def __init__(self, name: str, folder: Path, **settings: Any) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / f"{name}.log"
        self.starts = 0
        self.most_memory_mb = 0.0
        self._clock = folder / "clock"
        self._settings = {"llm_carrier": "tags", "data_dir": folder / name, **settings, "port": self.port}
        self._process: Any = None

    async def start(self) -> None:
        """One that cannot start, because the database or the broker is away, is started again."""
        begun = time.monotonic()
        while not await self._ready():
            if self._process is None or not self._process.is_alive():
                self._process = FORKS.Process(target=_serve, args=(self._settings, str(self._clock), str(self.log)))
                self._process.start()
                self.starts += 1
            if time.monotonic() - begun > _START_S * 5:
                raise TimeoutError(f"{self.url} does not get ready; see {self.log}")
            await asyncio.sleep(0.2)

    async def _ready(self) -> bool:
        async with httpx.AsyncClient(verify=False, timeout=5) as client:
            with suppress(httpx.HTTPError):
                return (await client.get(f"{self.url}/readyz")).is_success
        return False

    def kill(self) -> None:
        self._process.kill()
        self._process.join()

    def stop(self) -> None:
        """As by a supervisor."""
        self._process.terminate()
        self._process.join(90)
        self._process.kill()

    @property
    def alive(self) -> bool:
        return self._process is not None and bool(self._process.is_alive())

    def memory_mb(self) -> float:
        """What it takes now; the most is kept."""
        with suppress(OSError, StopIteration):
            status = Path(f"/proc/{self._process.pid}/status").read_text("utf-8")
            rss = next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))
            self.most_memory_mb = max(self.most_memory_mb, rss)
            return rss
        return 0.0


def _serve(settings: dict[str, Any], clock: str, log: str) -> None:
    from soulgraph.cli import hosting
    from soulgraph.cli.main import run_server
    from soulgraph.server import create_app
    from soulgraph.settings import Settings

    written = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.dup2(written, 1)
    os.dup2(written, 2)
    shared = SharedClock(Path(clock))
    hosting.create_app = lambda settings: create_app(settings, shared)
    run_server(Settings.load(**settings))
