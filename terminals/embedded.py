"""The MQTT broker inside this process, used when no other is configured. It listens on loopback only."""

import asyncio
import errno
import logging
import re
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from soulgraph.errors import ConfigurationError
from soulgraph.terminals.broker import Broker
from soulgraph.terminals.embedded_host import EmbeddedHost
from soulgraph.terminals.embedded_wires import CLOSE_S, TcpWire, WebSocketWire
from soulgraph.terminals.rules import MAX_PACKET, Authenticator

MQTT_PORT, WEBSOCKET_PORT = 1883, 9001
_HOST, _PORTS_TRIED = "127.0.0.1", 10
_BACKLOG = 100
"""Connections that are accepted in one round of the event loop."""
# A browser on this machine may have any page open; only pages that this machine serves may connect.
_ALLOWED_ORIGINS = [None, re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")]

_log = logging.getLogger(__name__)
# What it has to say of a connection is about strangers who speak no HTTP, with a traceback for each.
_websockets_log = logging.getLogger(f"{__name__}.websockets")
_websockets_log.setLevel(logging.CRITICAL)


class Addresses(NamedTuple):
    """`own` is for the server itself: with a password of which nobody else knows."""

    mqtt: str
    websocket: str
    own: Broker


@asynccontextmanager
async def embedded_broker(
    port: int | None, websocket_port: int | None, authenticator: Authenticator
) -> AsyncIterator[Addresses]:
    """Run the broker and yield its addresses. A requested port must be free; None takes one near the default."""
    with (
        _listen("SOULGRAPH_MQTT_PORT", port, MQTT_PORT) as tcp,
        _listen("SOULGRAPH_MQTT_WEBSOCKET_PORT", websocket_port, WEBSOCKET_PORT) as websocket,
    ):
        own = Broker(_HOST, _port(tcp), "server", secrets.token_urlsafe(), None)
        host = EmbeddedHost(authenticator, own)
        addresses = Addresses(own.public_url, f"ws://{_HOST}:{_port(websocket)}", own)
        async with _tcp_clients(host, tcp), _websocket_clients(host, websocket), _watching(host):
            _log.info("mqtt: the embedded broker listens on %s and %s, for this machine alone", *addresses[:2])
            yield addresses


@asynccontextmanager
async def _tcp_clients(host: EmbeddedHost, listener: socket.socket) -> AsyncIterator[None]:
    serving: set[asyncio.Task[None]] = set()

    async def serve_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        wire = TcpWire(reader, writer)
        task = asyncio.current_task()
        assert task
        serving.add(task)
        host.places.enter(wire.transport)
        try:
            await host.serve(wire)
        finally:
            await wire.close()
            host.places.leave(wire.transport)
            serving.discard(task)

    async with await asyncio.start_server(serve_client, sock=listener, backlog=_BACKLOG) as server:
        try:
            yield
        finally:
            server.close()
            while serving:  # they are asked to end and not cancelled, which asyncio would report as a mistake
                host.part_from_all()
                await asyncio.wait(serving, timeout=CLOSE_S)


@asynccontextmanager
async def _websocket_clients(host: EmbeddedHost, listener: socket.socket) -> AsyncIterator[None]:
    class CountedConnection(ServerConnection):
        """It takes a place as soon as it is there, before its handshake."""

        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            host.places.enter(self.transport)

        def connection_lost(self, exc: Exception | None) -> None:
            host.places.leave(self.transport)
            super().connection_lost(exc)

    async def serve_client(connection: ServerConnection) -> None:
        await host.serve(WebSocketWire(connection))

    async with serve(
        serve_client,
        sock=listener,
        subprotocols=[Subprotocol("mqtt")],
        origins=_ALLOWED_ORIGINS,
        compression=None,  # it would need more memory for each connection than all that is queued for it
        max_size=MAX_PACKET,
        max_queue=1,
        close_timeout=CLOSE_S,
        logger=_websockets_log,
        create_connection=CountedConnection,
        backlog=_BACKLOG,
    ):
        yield


@asynccontextmanager
async def _watching(host: EmbeddedHost) -> AsyncIterator[None]:
    task = asyncio.create_task(host.watch(), name="embedded broker")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _port(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def _listen(setting: str, requested: int | None, default: int) -> socket.socket:
    """A socket on the requested port, or on the first free one from the default port on."""
    ports = range(default, default + _PORTS_TRIED) if requested is None else (requested,)
    for port in ports:
        try:
            listener = socket.create_server((_HOST, port))
        except OSError as error:
            if requested is not None:
                raise ConfigurationError(setting, f"cannot listen on {_HOST}:{port}: {error.strerror}") from error
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            continue
        if requested is None and port != default:
            _log.info("mqtt: port %d is taken; if it is by your own broker, name it in SOULGRAPH_MQTT_URL", default)
        return listener
    raise ConfigurationError(setting, f"ports {default} to {ports[-1]} are taken: choose one, 0 for a free one")
