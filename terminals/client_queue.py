"""What the embedded broker has yet to send to one client."""

import asyncio
from collections import deque
from typing import NamedTuple

MAX_QUEUED_BYTES = 1024 * 1024
_OVERHEAD_BYTES = 256
"""Memory that a message takes beside its topic and payload, roughly."""


class Message(NamedTuple):
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False

    @property
    def size(self) -> int:
        return len(self.topic) + len(self.payload) + _OVERHEAD_BYTES


class ClientQueue:
    """First in, first out, and bounded by its bytes. It holds messages, and answers that are packets already."""

    def __init__(self, limit: int = MAX_QUEUED_BYTES) -> None:
        self._limit = limit
        self._items: deque[Message | bytes] = deque()
        self._bytes = 0
        self._not_empty = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    @property
    def is_full(self) -> bool:
        return self._bytes >= self._limit

    def put(self, item: Message | bytes) -> None:
        self._items.append(item)
        self._bytes += _size(item)
        self._not_empty.set()
        if self.is_full:
            self._room.clear()

    async def wait_for_room(self) -> None:
        while self.is_full:  # whoever waited as well may have filled it again
            await self._room.wait()

    async def take(self) -> Message | bytes:
        while not self._items:
            self._not_empty.clear()
            await self._not_empty.wait()
        return self._take()

    def take_waiting(self) -> Message | bytes | None:
        """The next item, if one is there."""
        return self._take() if self._items else None

    def clear(self) -> None:
        self._items.clear()
        self._bytes = 0
        self._room.set()

    def _take(self) -> Message | bytes:
        item = self._items.popleft()
        self._bytes -= _size(item)
        if not self.is_full:
            self._room.set()
        return item


def _size(item: Message | bytes) -> int:
    return len(item) + _OVERHEAD_BYTES if isinstance(item, bytes) else item.size
