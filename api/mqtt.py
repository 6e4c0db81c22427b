"""`/v1/mqtt`: MQTT through this server's own port to whatever broker is configured, for browsers and those far away."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect, status
from pydantic_core import from_json, to_json

from soulgraph.api.access import Caller
from soulgraph.api.auth import KEY_CHECK_S
from soulgraph.api.chat import for_caller
from soulgraph.api.services import Served, Services
from soulgraph.api.websocket import Connecting, identify_socket
from soulgraph.errors import (
    BrokerUnavailable,
    Conflict,
    Forbidden,
    InvalidInput,
    RequestError,
    SoulgraphError,
    TooLarge,
)
from soulgraph.runtime.admission import TurnRequest
from soulgraph.soul.people import DEFAULT_USER
from soulgraph.terminals.mqtt_framing import Kind, PacketBuffer
from soulgraph.terminals.tunnel import MAX_PACKET, ConnectRefused, Relay, Tunnel

router = APIRouter(prefix="/v1", tags=["terminals"])

PROTOCOL = "mqtt"

_CONNECT_S = 10.0
_SEEN_S = 2.0
"""For so long it is not asked again whether a terminal is the caller's."""
_MAX_SEEN = 1000
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
        way = Tunnel(KeyRights(caller, services), hub.broker, caller.key_id or "open")
        with suppress(WebSocketDisconnect):
            await Connection(socket, services, way, reader, writer).run(caller.name or "this machine")


class KeyRights:
    """What a caller may do over MQTT: the same as over HTTP.

    A person listens at their own terminals and at those of nobody in particular, because others are spoken to there.
    """

    def __init__(self, caller: Caller, services: Services) -> None:
        self._caller = caller
        self._services = services
        self._seen: dict[str, tuple[bool, float]] = {}
        self.everywhere = caller.is_owner and not caller.soul_ids
        self.may_resend = caller.is_owner

    async def sees(self, terminal_id: str) -> bool:
        if not self._caller.soul_ids and self._caller.acts_for_anybody:
            return True
        seen, asked_at = self._seen.get(terminal_id, (False, 0.0))
        if time.monotonic() - asked_at > _SEEN_S:
            seen = await self._ask(terminal_id)
            if len(self._seen) >= _MAX_SEEN:
                self._seen.clear()
            self._seen[terminal_id] = seen, time.monotonic()
        return seen

    async def _ask(self, terminal_id: str) -> bool:
        async with self._services.stores.read() as tx:
            terminal = await tx.terminals.find(terminal_id)
        if terminal is None:
            return True
        whose = self._caller.acts_for_anybody or terminal.user_id in (self._caller.user_id, DEFAULT_USER)
        return whose and self._caller.sees_soul(terminal.soul_id)

    async def checked(self, terminal_id: str, kind: str, payload: bytes) -> bytes:
        report = _json(payload) if kind in ("input", "skills") else None
        if report is None:
            return payload
        if kind == "skills":
            await self._check_hint(report.get("soul_hint"))
            return payload
        return await self._checked_input(terminal_id, report)

    async def _check_hint(self, hint: object) -> None:
        """A terminal takes the soul that its skills name: it must be one of the key's."""
        if not self._caller.soul_ids or not isinstance(hint, str) or not hint:
            return
        async with self._services.stores.read() as tx:
            souls = await tx.souls.called(hint)
        if not souls or not all(self._caller.sees_soul(soul.soul_id) for soul in souls):
            raise Forbidden(f"soul_hint: this key is not for {hint[:80]!r}")

    async def _checked_input(self, terminal_id: str, report: dict[str, Any]) -> bytes:
        """The input with the person for whom the key speaks, written anew so that it is read as it was checked."""
        named = {name: report.get(name) for name in ("user_id", "session_id")}
        if all(value is None or isinstance(value, str) for value in named.values()):
            request = TurnRequest("", terminal_id=terminal_id, **named)
            person = (await for_caller(request, self._caller, self._services)).user_id
            report |= {"user_id": person} if person else {}
        return to_json(report)


def _json(payload: bytes) -> dict[str, Any] | None:
    """The object in a payload; None if there is none, which whoever reads the topic will complain of."""
    try:
        value = from_json(payload)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


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
