"""The MQTT broker inside this process, used when no other is configured. It listens on loopback only."""

import asyncio
import logging
import re
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from soulgraph.terminals.broker import Broker
from soulgraph.terminals.embedded_host import EmbeddedHost
from soulgraph.terminals.embedded_wires import CLOSE_S, TcpWire, WebSocketWire
from soulgraph.terminals.listening import HOST, listen_mqtt, listen_websocket, port_of
from soulgraph.terminals.rules import MAX_PACKET, Authenticator

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
    with listen_mqtt(port) as tcp, listen_websocket(websocket_port) as websocket:
        own = Broker(HOST, port_of(tcp), "server", secrets.token_urlsafe(), None)
        async with serving_broker(tcp, websocket, own, authenticator) as addresses:
            yield addresses


@asynccontextmanager
async def serving_broker(
    tcp: socket.socket, websocket: socket.socket, own: Broker, authenticator: Authenticator
) -> AsyncIterator[Addresses]:
    """Run the broker on sockets that listen; who comes with the password of `own` is a server."""
    host = EmbeddedHost(authenticator, own)
    addresses = Addresses(own.public_url, f"ws://{HOST}:{port_of(websocket)}", own)
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
