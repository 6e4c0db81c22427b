"""The queue of messages to terminals that need not arrive at once."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from soulgraph.terminals.payloads import Payload

_MAX_QUEUED = 10_000


class Parcel(NamedTuple):
    """A message to publish. A newer one with the same `key` makes it obsolete."""

    topic: str
    payload: Payload
    key: str
    retain: bool = False


class SendQueue:
    """First in, first out. When it is full, obsolete parcels are dropped first, and then the oldest."""

    def __init__(self, limit: int = _MAX_QUEUED) -> None:
        self._limit = limit
        self._queue: deque[Parcel] = deque()
        self._taken: list[Parcel] = []
        self._not_empty = asyncio.Event()
        self._idle = asyncio.Event()  # nothing is queued and nothing taken
        self._idle.set()

    def put(self, parcel: Parcel) -> None:
        self._queue.append(parcel)
        if len(self._queue) > self._limit:
            self._keep_newest(self._queue)
        self._idle.clear()
        self._not_empty.set()

    async def take(self) -> Parcel:
        """Wait for the next parcel to send. Without `mark_sent`, the next `requeue_unsent` puts it back."""
        await self._not_empty.wait()
        parcel = self._queue.popleft()
        self._taken.append(parcel)
        if not self._queue:
            self._not_empty.clear()
        return parcel

    def mark_sent(self, parcel: Parcel) -> None:
        self._taken = [other for other in self._taken if other is not parcel]
        if not self._queue and not self._taken:
            self._idle.set()

    def requeue_unsent(self) -> None:
        """Put back what was taken and not sent, before the rest, and drop what has become obsolete."""
        self._keep_newest([*self._taken, *self._queue])
        self._taken = []
        if self._queue:
            self._not_empty.set()

    async def wait_until_sent(self) -> None:
        await self._idle.wait()

    def _keep_newest(self, parcels: Iterable[Parcel]) -> None:
        """Queue the newest parcel of each key, at most `limit` of them."""
        newest: dict[str, Parcel] = {}
        for parcel in parcels:
            newest.pop(parcel.key, None)
            newest[parcel.key] = parcel
        self._queue = deque(list(newest.values())[-self._limit :])
