"""The server that is fuzzed, and what is looked at after every mutant: its log, its loop and its database."""

import asyncio
import logging
import sqlite3
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from websockets.asyncio.client import ClientConnection

from soulgraph.api.services import Services
from soulgraph.server import create_app
from soulgraph.settings import Settings
from soulgraph.stores.columns import metadata
from soulgraph.tests.e2e.afterglow import settled
from soulgraph.tests.live import new_soul, say, served
from soulgraph.tests.loop_gauge import LoopGauge

MAX_STALL_S = 1.0
# What is derived from what was stored, some time later, or counts what was done.
_DERIVED = {"episodes", "episode_vectors", "outbox", "usage", "emotion_history", "lives"}


class ErrorLog(logging.Handler):
    """What no mutant may cause: anything that is logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._texts: list[str] = []
        self._last: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, UnicodeDecodeError) and record.name.startswith("uvicorn"):
            return  # it says so of clients whose connection it closes
        if error is None or error is not self._last:  # uvicorn tells once more what we have told
            self._texts.append(f"{record.getMessage()} {brief(error) if error else ''}")
        self._last = error

    def taken(self) -> list[str]:
        texts, self._texts = self._texts, []
        return texts


def brief(error: BaseException) -> str:
    """The error, and where in our code it was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "site-packages" not in frame.filename and "/lib/python" not in frame.filename]
    places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in ours[-4:]]
    return f"{type(error).__name__}: {str(error)[:300]} at {' < '.join(reversed(places))}"


class StoredRows:
    """How many rows the tables in a file of SQLite have, as another process sees it."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._tables = sorted({*metadata.tables} - _DERIVED)
        self._version = -1
        self._counts: dict[str, int] = {}

    def counts(self) -> dict[str, int]:
        """By table; they are counted only if anybody has changed anything since the last time."""
        version = int(self._connection.execute("PRAGMA data_version").fetchone()[0])
        if version != self._version:
            every = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in self._tables)
            self._counts = dict(self._connection.execute(every).fetchall())
            self._version = version
        return self._counts

    def integrity(self) -> str:
        return str(self._connection.execute("PRAGMA integrity_check").fetchone()[0])


@dataclass
class World:
    client: httpx.AsyncClient
    services: Services
    rows: StoredRows
    gauge: LoopGauge
    log: ErrorLog
    souls: list[str] = field(default_factory=list)
    kept: dict[str, ClientConnection] = field(default_factory=dict)
    """The sockets that stay open between mutants, by path."""

    @property
    def soul_id(self) -> str:
        return self.souls[-1]

    async def renew_soul(self) -> None:
        """So that what was taken in does not pile up."""
        while self.souls:
            await self.client.delete(f"/v1/souls/{self.souls.pop()}")
        self.souls.append(await new_soul(self.client, "fuzzed"))

    async def idle(self) -> None:
        """Wait until no turn runs."""
        while self.services.runner.running:
            await asyncio.sleep(0.001)

    async def works(self) -> None:
        """Raises if the server cannot do what it could before."""
        await self.renew_soul()
        answer = await say(self.client, "Hello, I am still here.", soul_id=self.soul_id)
        assert answer["reply"]
        for path in ("souls", "sessions", "characters", "terminals", "events"):
            response = await self.client.get(f"/v1/{path}")
            assert response.status_code == 200, response.text
        await settled(self.client)
        assert self.rows.integrity() == "ok"


@asynccontextmanager
async def fuzzed_server(folder: Path) -> AsyncIterator[World]:
    """A server on SQLite with an embedded broker and the offline voice, and a soul."""
    log = ErrorLog()
    settings = {"data_dir": folder, "mqtt_url": "", "mqtt_port": 0, "mqtt_websocket_port": 0, "log_level": "error"}
    app = create_app(Settings.load(**settings))
    logging.getLogger().addHandler(log)
    try:
        async with served(app) as client, LoopGauge().running() as gauge:
            logging.getLogger("uvicorn").handlers = [log]  # it would print, and tell the root nothing
            world = World(client, app.state.services, StoredRows(folder / "soulgraph.db"), gauge, log)
            await world.renew_soul()
            yield world
            for socket in world.kept.values():
                await socket.close()
    finally:
        logging.getLogger().removeHandler(log)
