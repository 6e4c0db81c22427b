"""The MQTT broker inside this process, used when no other is configured. It listens on loopback only."""

import asyncio
import errno
import logging
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from typing import Any, NamedTuple
from weakref import WeakSet

from soulgraph.errors import ConfigurationError

MQTT_PORT, WEBSOCKET_PORT = 1883, 9001
_HOST, _PORTS_TRIED = "127.0.0.1", 10
_MAX_FRAME = 1024 * 1024
# A browser on this machine may have any page open; only pages that this machine serves may connect.
_ALLOWED_ORIGINS = [None, re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")]
_ALLOW_ANONYMOUS = {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}}

_log = logging.getLogger(__name__)


class Addresses(NamedTuple):
    mqtt: str
    websocket: str


class _Subscriptions(dict[str, Any]):
    """amqtt goes through them for every client that connects, and others come and go while it does."""

    def __iter__(self) -> Iterator[str]:
        return iter(list(self.keys()))


@asynccontextmanager
async def embedded_broker(port: int | None, websocket_port: int | None) -> AsyncIterator[Addresses]:
    """Run the broker and yield its addresses. A requested port must be free; None takes one near the default."""
    import websockets
    from amqtt.adapters import StreamReaderAdapter, StreamWriterAdapter, WebSocketsReader, WebSocketsWriter
    from amqtt.broker import Broker

    logging.getLogger("amqtt").setLevel(logging.ERROR)
    with (
        _listen("SOULGRAPH_MQTT_PORT", port, MQTT_PORT) as tcp,
        _listen("SOULGRAPH_MQTT_WEBSOCKET_PORT", websocket_port, WEBSOCKET_PORT) as websocket,
    ):
        # amqtt could open its ports itself, but would not tell which: so the sockets are ours.
        broker = Broker({"listeners": {"default": {"type": "external"}}, "plugins": _ALLOW_ANONYMOUS})
        broker._subscriptions = _Subscriptions()
        writers: WeakSet[asyncio.StreamWriter] = WeakSet()

        async def on_tcp_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            # amqtt leaves a connection open when its client breaks it off or goes before it has sent CONNECT.
            with closing(writer):
                writers.add(writer)
                await broker.external_connected(StreamReaderAdapter(reader), StreamWriterAdapter(writer), "default")

        async def on_websocket_client(connection: websockets.ServerConnection) -> None:
            await broker.external_connected(WebSocketsReader(connection), WebSocketsWriter(connection), "default")

        await broker.start()
        protocols = [websockets.Subprotocol("mqtt")]
        async with (
            await asyncio.start_server(on_tcp_client, sock=tcp) as server,
            websockets.serve(
                on_websocket_client,
                sock=websocket,
                subprotocols=protocols,
                origins=_ALLOWED_ORIGINS,
                max_size=_MAX_FRAME,
            ),
        ):
            addresses = Addresses(f"mqtt://{_HOST}:{_port(tcp)}", f"ws://{_HOST}:{_port(websocket)}")
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
