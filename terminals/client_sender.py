"""Sends to a client of the embedded broker what its queue holds."""

from collections.abc import Awaitable, Callable

from soulgraph.terminals.client_queue import ClientQueue, Message
from soulgraph.terminals.embedded_wires import Wire
from soulgraph.terminals.mqtt_packets import Publish

_MAX_BATCH = 64 * 1024
_MAX_PACKET_ID = 0xFFFF


class Sender:
    """`may_hear` is asked of each topic when its message is sent: the rights of a client may have changed."""

    def __init__(self, queue: ClientQueue, wire: Wire, may_hear: Callable[[str], Awaitable[bool]]) -> None:
        self._queue = queue
        self._wire = wire
        self._may_hear = may_hear
        self._last_packet_id = 0

    async def run(self) -> None:
        """Send as much at once as there is, until the connection ends (OSError)."""
        while True:
            batch = bytearray(await self._encode(await self._queue.take()))
            while len(batch) < _MAX_BATCH and (item := self._queue.take_waiting()) is not None:
                batch += await self._encode(item)
            if batch:
                await self._wire.send(bytes(batch))

    async def _encode(self, item: Message | bytes) -> bytes:
        """As a packet; nothing for a message that the client may not hear."""
        if isinstance(item, bytes):
            return item
        if not await self._may_hear(item.topic):
            return b""
        packet_id = self._next_packet_id() if item.qos else 0
        return Publish(item.topic, item.payload, item.qos, item.retain, packet_id=packet_id).encode()

    def _next_packet_id(self) -> int:
        self._last_packet_id = self._last_packet_id % _MAX_PACKET_ID + 1
        return self._last_packet_id
