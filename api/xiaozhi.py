"""`/xiaozhi/v1/`: xiaozhi devices as terminals. They speak their own protocol, in text; sound is not understood yet."""

from contextlib import suppress

from fastapi import APIRouter, WebSocket, WebSocketDisconnect, status

from soulgraph.api.access import Caller
from soulgraph.api.services import Served, Services
from soulgraph.api.websocket import Connecting
from soulgraph.api.xiaozhi_device import Device
from soulgraph.errors import InvalidInput
from soulgraph.terminals.topics import valid_terminal_id

router = APIRouter(prefix="/xiaozhi/v1", tags=["terminals"])


@router.websocket("/")
async def talk(socket: WebSocket, caller: Connecting, services: Served) -> None:
    """Serve a device until one side closes the socket."""
    caller.require_scope("terminal")
    terminal_id = _terminal_id(socket)
    async with services.stores.read() as tx:
        await caller.check_terminal(tx, terminal_id)
    await _bind(terminal_id, socket.query_params.get("soul"), caller, services)
    await socket.accept()
    with suppress(WebSocketDisconnect):
        if await Device(socket, services, terminal_id).run():
            await socket.close(status.WS_1008_POLICY_VIOLATION)


def _terminal_id(socket: WebSocket) -> str:
    """The device's address is its id. Test pages cannot set headers and write it into the URL."""
    named = socket.headers.get("device-id") or socket.query_params.get("device-id")
    if not named:
        raise InvalidInput("send the header `Device-Id`, or `?device-id=` in the URL")
    return valid_terminal_id(named)


async def _bind(terminal_id: str, soul: str | None, caller: Caller, services: Services) -> None:
    """Give the device the soul that the URL names, unless it has one."""
    if not soul:
        return
    async with services.stores.write() as tx:
        terminal = await tx.terminals.find(terminal_id)
        if terminal and terminal.soul_id:
            return
        souls = [one for one in await tx.souls.called(soul) if caller.sees_soul(one.soul_id)]
        if len(souls) != 1:
            raise InvalidInput(f"`?soul=`: {len(souls)} souls are called {soul[:80]!r}: name one by its id")
        await tx.terminals.bind(terminal_id, souls[0].soul_id, services.now())
