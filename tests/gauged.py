"""A real server process that tells how long its loop stood still, and where."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from multiprocessing.connection import Connection
from typing import Any

from fastapi import FastAPI

from soulgraph.tests.forks import FORKS
from soulgraph.tests.live import until_ready
from soulgraph.tests.loop_gauge import LoopGauge

Stalls = tuple[float, list[tuple[str, int]]]


class GaugedServer:
    def __init__(self, **settings: Any) -> None:
        self.url = f"http://127.0.0.1:{settings['port']}"
        self._pipe, theirs = FORKS.Pipe()
        self._process = FORKS.Process(target=_serve, args=(settings, theirs), daemon=True)

    async def start(self) -> None:
        self._process.start()
        await until_ready(self.url, self._process.is_alive)

    async def stalls(self) -> Stalls:
        """The longest stall since the last time in seconds, and where the server was found during stalls, how often."""
        self._pipe.send("tell")
        assert await asyncio.to_thread(self._pipe.poll, 60), "the server does not answer"
        told: Stalls = self._pipe.recv()
        return told

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


def _serve(settings: dict[str, Any], pipe: Connection) -> None:
    import soulgraph.tests.warm  # noqa: F401  # a fork server says nothing of what it could not import
    from soulgraph.cli import hosting
    from soulgraph.settings import Settings

    create = hosting.create_app
    hosting.create_app = lambda settings: _gauged(create(settings), pipe)
    hosting.host(Settings.load(**settings), lambda _url: None)


def _gauged(app: FastAPI, pipe: Connection) -> FastAPI:
    lifespan = app.router.lifespan_context

    def tell(gauge: LoopGauge) -> None:
        pipe.recv()
        pipe.send((gauge.worst_s, gauge.places.most_common(3)))
        gauge.reset()

    @asynccontextmanager
    async def gauged(app: FastAPI) -> AsyncIterator[None]:
        async with lifespan(app), LoopGauge().running() as gauge:
            asyncio.get_running_loop().add_reader(pipe.fileno(), tell, gauge)
            yield

    app.router.lifespan_context = gauged
    return app
