"""`/v1/mqtt`: MQTT through this server's own port to whatever broker is configured, for browsers and those far away."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import closing, suppress

from fastapi import APIRouter, WebSocket, WebSocketDisconnect, status

from soulgraph.api.auth import KEY_CHECK_S
from soulgraph.api.mqtt_rights import KeyRights
from soulgraph.api.services import Served, Services
from soulgraph.api.websocket import Connecting, identify_socket
from soulgraph.errors import (
    BrokerUnavailable,
    Conflict,
    InvalidInput,
    RequestError,
    SoulgraphError,
    TooLarge,
)
from soulgraph.terminals.mqtt_framing import Kind, PacketBuffer
from soulgraph.terminals.rules import MAX_PACKET, ConnectRefused
from soulgraph.terminals.tunnel import Relay, Tunnel

router = APIRouter(prefix="/v1", tags=["terminals"])

PROTOCOL = "mqtt"

_CONNECT_S = 10.0
_CHUNK = 64 * 1024
_MAX_REASON = 123
"""Bytes of a reason that fit into the closing frame of a web socket."""

_log = logging.getLogger(__name__)


@router.websocket("/mqtt")
async def tunnel(socket: WebSocket, caller: Connecting, services: Served) -> None:
    """Pass packets between the socket and the broker until one side ends it, or the client does what it may not."""
    caller.require_scope("terminal")
    hub = services.context.outlets.hub
    if hub is None:
        raise Conflict("no_broker", "this server runs without MQTT: SOULGRAPH_MQTT_URL is `none`")
    reader, writer = await hub.broker.connect()
    with closing(writer):
        await socket.accept(PROTOCOL if PROTOCOL in socket.scope["subprotocols"] else None)
        way = Tunnel(KeyRights(caller, services.stores), hub.broker, caller.key_id or "open")
        with suppress(WebSocketDisconnect):
            await Connection(socket, services, way, reader, writer).run(caller.name or "this machine")


class Connection:
    """One open socket and its connection to the broker."""

    def __init__(
        self,
        socket: WebSocket,
        services: Services,
        way: Tunnel,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._socket = socket
        self._services = services
        self._tunnel = way
        self._reader = reader
        self._writer = writer

    async def run(self, name: str) -> None:
        """Serve until one side closes it; `name` is whose connection the log says it was."""
        loops = [asyncio.create_task(loop) for loop in (self._send(), self._receive(), self._check())]
        try:
            ended, _ = await asyncio.wait(loops, return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
            await self._socket.close()
        except ConnectRefused as refused:
            await self._socket.send_bytes(refused.answer)
            await self._close(name, refused.error)
        except SoulgraphError as error:
            await self._close(name, error)
        finally:
            for task in loops:
                task.cancel()
            await asyncio.gather(*loops, return_exceptions=True)

    async def _send(self) -> None:
        """Pass on what the client sends, until it says goodbye."""
        buffer = PacketBuffer(MAX_PACKET)
        async for data in self._frames():
            for packet in buffer.feed(data):
                if packet.kind == Kind.SUBSCRIBE:
                    await identify_socket(self._socket, self._services)
                await self._relay(await self._tunnel.from_client(packet))
                if packet.kind == Kind.DISCONNECT:
                    return
                await asyncio.sleep(0)  # a frame may hold thousands of packets, and others want to be served too

    async def _frames(self) -> AsyncIterator[bytes]:
        while (frame := await self._socket.receive())["type"] != "websocket.disconnect":
            if frame.get("bytes") is None:
                raise InvalidInput("MQTT comes in binary frames")
            yield frame["bytes"]
        raise WebSocketDisconnect

    async def _receive(self) -> None:
        """Pass on what the broker sends."""
        buffer = PacketBuffer(MAX_PACKET)
        while data := await self._read():
            for packet in buffer.feed(data):
                await self._relay(await self._tunnel.from_broker(packet))
        raise BrokerUnavailable("the broker has ended the connection")

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(_CHUNK)
        except OSError:
            return b""

    async def _relay(self, relay: Relay) -> None:
        if relay.to_broker:
            self._writer.write(relay.to_broker)
            with suppress(OSError):  # the other loop notices that the broker is gone
                await self._writer.drain()
        if relay.to_client:
            await self._socket.send_bytes(relay.to_client)

    async def _check(self) -> None:
        """End the connection of a client that never says CONNECT, or whose key has been revoked."""
        await asyncio.sleep(_CONNECT_S)
        if not self._tunnel.connected:
            raise InvalidInput("no CONNECT came")
        while True:
            await identify_socket(self._socket, self._services)
            await asyncio.sleep(KEY_CHECK_S)

    async def _close(self, name: str, error: SoulgraphError) -> None:
        _log.warning("mqtt: closed the connection of %s: %s", name, error.detail)
        await self._socket.close(_close_code(error), _shortened(error.detail))


def _close_code(error: SoulgraphError) -> int:
    if isinstance(error, TooLarge):
        return status.WS_1009_MESSAGE_TOO_BIG
    if isinstance(error, InvalidInput):
        return status.WS_1002_PROTOCOL_ERROR
    if isinstance(error, RequestError):
        return status.WS_1008_POLICY_VIOLATION
    return status.WS_1011_INTERNAL_ERROR


def _shortened(reason: str) -> str:
    return reason.encode()[:_MAX_REASON].decode(errors="ignore")
