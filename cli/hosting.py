"""The app under uvicorn: in the foreground for `soulgraph serve`, or in a thread of a command that found no server."""

import gc
import math
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AsyncExitStack, contextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from soulgraph.cli.addresses import bound, http_url, listening
from soulgraph.cli.allocator import give_memory_back
from soulgraph.cli.http_limits import LimitedHttp
from soulgraph.runtime.data_dir import private_umask
from soulgraph.server import create_app
from soulgraph.settings import Settings

Announce = Callable[[str], None]

_GOODBYE_S = 1.0
_GARBAGE = 20_000
"""Objects after which garbage is looked for: a turn makes thousands that are gone at its end without that."""
_MAX_MESSAGE = 1024 * 1024


class WebSocket(WebSocketsSansIOProtocol):
    """A client that is leaving already cannot be told to leave: uvicorn would break off its own shutdown over it."""

    def shutdown(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()


class SoulServer(uvicorn.Server):
    """uvicorn, except that it opens the app itself: what goes wrong at start-up is raised, not buried in a log."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._announce = announce
        self._opened = AsyncExitStack()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self._opened.enter_async_context(self._app.router.lifespan_context(self._app))
        await super().startup(sockets)
        # What start-up made is there to stay: looking through it again would stall the streams. To collect it first
        # would take a quarter of a second and find less than a megabyte.
        gc.freeze()
        gc.set_threshold(_GARBAGE)
        gc.enable()
        self._announce()

    async def note_running(self) -> None:
        """For the metrics that any of several processes tells of all."""
        services = self._app.state.services
        services.metrics.running.set(services.runner.running)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Streams that would stay open for ever are ended first: everything else is waited for."""
        await self._app.state.services.imports.stop()
        await self._app.state.services.listeners.close(_GOODBYE_S)
        await super().shutdown(sockets)
        await self._opened.aclose()


def host(settings: Settings, announce: Announce) -> None:
    """Serve until a signal comes."""
    give_memory_back()
    with private_umask(), _listening(settings) as listener:
        _server(settings, listener, announce).run([listener])


def host_beside_others(settings: Settings, announce: Announce) -> None:
    """The same, on a port on which other processes of this server listen too. It listens only when it is ready."""
    give_memory_back()
    with private_umask(), bound(settings.host, settings.port, shared=True) as listener:
        server = _server(settings, listener, announce)
        server.config.callback_notify = server.note_running
        server.config.timeout_notify = 1
        server.run([listener])


@contextmanager
def hosted(settings: Settings) -> Iterator[str]:
    """The address of a quiet server of our own, on a free loopback port, for as long as the block lasts.

    Its only user has left when the block ends, so a turn that still runs gets a moment and no more.
    """
    alone: dict[str, Any] = {"host": "127.0.0.1", "port": 0, "shutdown_grace_s": 1}
    if not settings.mqtt_url:
        alone |= {"mqtt_url": "none", "mqtt_port": None, "mqtt_websocket_port": None}
    settings = settings.model_copy(update=alone)
    ready: Future[Any] = Future()
    with private_umask(), _listening(settings) as listener, ThreadPoolExecutor(1, "soulgraph") as threads:
        server = _server(settings, listener, ready.set_result, log_level="critical")
        running: Future[Any] = threads.submit(server.run, [listener])
        try:
            wait([ready, running], return_when=FIRST_COMPLETED)
            if running.done():
                running.result()
            yield ready.result()
        finally:
            server.should_exit = True


def _server(
    settings: Settings, listener: socket.socket, announce: Announce, log_level: str | None = None
) -> SoulServer:
    app = create_app(settings)
    config = uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        log_level=log_level,
        access_log=settings.log_level == "debug",
        http=LimitedHttp,
        ws=WebSocket,
        ws_max_size=_MAX_MESSAGE,
        timeout_graceful_shutdown=math.ceil(settings.shutdown_grace_s),
    )
    url = http_url(settings.host, listener.getsockname()[1])
    return SoulServer(config, app, lambda: announce(url))


def _listening(settings: Settings) -> socket.socket:
    """Bound before anything is opened, so that a taken port costs nothing and port 0 has its number."""
    return listening(settings.host, settings.port)
