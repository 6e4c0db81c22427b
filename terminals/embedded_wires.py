"""The connections of the embedded broker: TCP and web sockets as streams of bytes, and how many there may be."""

import asyncio
import logging
from typing import Protocol

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from soulgraph.errors import InvalidInput
from soulgraph.terminals.rare_log import RareLog

MAX_CONNECTIONS = 256
"""Far fewer than the files that a process may have open: the server needs some, too."""
CLOSE_S = 1.0
"""So long a client may take to read the last that it was sent."""
_CHUNK = 64 * 1024


class Wire(Protocol):
    """The bytes of one connection."""

    @property
    def transport(self) -> asyncio.WriteTransport: ...

    async def receive(self) -> bytes:
        """What has come; nothing at the end. InvalidInput if it cannot be MQTT."""
        ...

    async def send(self, data: bytes) -> None:
        """Return when there is room for more; OSError if the connection has ended."""
        ...


class TcpWire:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.transport = writer.transport

    async def receive(self) -> bytes:
        try:
            return await self._reader.read(_CHUNK)
        except OSError:
            return b""

    async def send(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except RuntimeError as error:  # uvloop's, of a connection that was aborted meanwhile
            raise ConnectionError("the connection is closed") from error

    async def close(self) -> None:
        """Let the client read what was sent, but not for long."""
        self._writer.close()
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._writer.wait_closed()
        except (OSError, TimeoutError):
            self.transport.abort()


class WebSocketWire:
    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self.transport = connection.transport

    async def receive(self) -> bytes:
        try:
            frame = await self._connection.recv()
        except ConnectionClosed:
            return b""
        if isinstance(frame, str):
            raise InvalidInput("MQTT comes in binary frames")
        return frame

    async def send(self, data: bytes) -> None:
        try:
            await self._connection.send(data)
        except ConnectionClosed as error:
            raise ConnectionError("the web socket is closed") from error


class Places:
    """Bounds the connections of all ports together.

    When all places are taken, a new connection gets that of the one which has been silent about itself the longest.
    """

    def __init__(self, log: RareLog) -> None:
        self._log = log
        self._is_known: dict[asyncio.WriteTransport, bool] = {}

    def enter(self, transport: asyncio.WriteTransport) -> None:
        self._is_known[transport] = False
        if len(self._is_known) > MAX_CONNECTIONS:
            self._log.write(logging.INFO, "places", f"mqtt: all {MAX_CONNECTIONS} places of the broker are taken")
            unknown = next(one for one, is_known in self._is_known.items() if not is_known)
            self.leave(unknown)
            unknown.abort()

    def settle(self, transport: asyncio.WriteTransport) -> None:
        """From now on nobody takes its place."""
        if transport in self._is_known:
            self._is_known[transport] = True

    def leave(self, transport: asyncio.WriteTransport) -> None:
        self._is_known.pop(transport, None)
