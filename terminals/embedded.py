"""The broker that is there when none is configured: inside this process, for this machine alone."""

import asyncio
import errno
import logging
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import NamedTuple
from weakref import WeakSet

from soulgraph.errors import ConfigurationError

MQTT_PORT, WEBSOCKET_PORT = 1883, 9001
_HOST, _NEIGHBOURS = "127.0.0.1", 10
_MAX_FRAME = 1024 * 1024
# Any page in a browser of this machine could connect; only those that this machine serves may.
_ORIGINS = [None, re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")]
_ANYBODY = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}

_log = logging.getLogger(__name__)


class Addresses(NamedTuple):
    mqtt: str
    websocket: str


@asynccontextmanager
async def embedded_broker(port: int | None, websocket_port: int | None) -> AsyncIterator[Addresses]:
    """Where it listens. A port that was asked for is used or is an error; else one near the usual port is found."""
    import websockets
    from amqtt.adapters import StreamReaderAdapter, StreamWriterAdapter, WebSocketsReader, WebSocketsWriter
    from amqtt.broker import Broker

    logging.getLogger("amqtt").setLevel(logging.ERROR)
    with (
        _listening("SOULGRAPH_MQTT_PORT", port, MQTT_PORT) as plain,
        _listening("SOULGRAPH_MQTT_WEBSOCKET_PORT", websocket_port, WEBSOCKET_PORT) as framed,
    ):
        # It would open its ports itself, but it cannot be asked which.
        broker = Broker({"listeners": {"default": {"type": "external"}}, "plugins": _ANYBODY})
        writers: WeakSet[asyncio.StreamWriter] = WeakSet()

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # It leaves a connection open whose client breaks it off, or goes before it has said who it is.
            with closing(writer):
                writers.add(writer)
                await broker.external_connected(StreamReaderAdapter(reader), StreamWriterAdapter(writer), "default")

        async def browsed(browser: websockets.ServerConnection) -> None:
            await broker.external_connected(WebSocketsReader(browser), WebSocketsWriter(browser), "default")

        await broker.start()
        protocols = [websockets.Subprotocol("mqtt")]
        async with (
            await asyncio.start_server(connected, sock=plain) as server,
            websockets.serve(browsed, sock=framed, subprotocols=protocols, origins=_ORIGINS, max_size=_MAX_FRAME),
        ):
            addresses = Addresses(f"mqtt://{_HOST}:{_port(plain)}", f"ws://{_HOST}:{_port(framed)}")
            _log.info("mqtt: the embedded broker listens on %s and %s, for this machine alone", *addresses)
            try:
                yield addresses
            finally:
                server.close()
                await broker.shutdown()
                for writer in writers:
                    writer.close()


def _port(listener: socket.socket) -> int:
    port: int = listener.getsockname()[1]
    return port


def _listening(setting: str, wanted: int | None, usual: int) -> socket.socket:
    ports = range(usual, usual + _NEIGHBOURS) if wanted is None else (wanted,)
    for port in ports:
        try:
            listener = socket.create_server((_HOST, port))
        except OSError as error:
            if wanted is not None:
                raise ConfigurationError(setting, f"cannot listen on {_HOST}:{port}: {error.strerror}") from error
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            continue
        if wanted is None and port != usual:
            _log.info("mqtt: port %d is taken; if it is by your own broker, name it in SOULGRAPH_MQTT_URL", usual)
        return listener
    raise ConfigurationError(setting, f"ports {usual} to {ports[-1]} are taken: choose one, 0 for a free one")
