"""What is on its way to terminals and need not be there at once."""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from soulgraph.terminals.payloads import Payload

_MAX_WAITING = 10_000


class Parcel(NamedTuple):
    """Something to publish. Of two with the same `key` only the newer is worth sending."""

    topic: str
    payload: Payload
    key: str


class SendQueue:
    """In order. Where it piles up, what is outdated goes first, and then what is oldest."""

    def __init__(self, limit: int = _MAX_WAITING) -> None:
        self._limit = limit
        self._queue: deque[Parcel] = deque()
        self._taken: list[Parcel] = []
        self._some, self._none = asyncio.Event(), asyncio.Event()
        self._none.set()

    def put(self, parcel: Parcel) -> None:
        self._queue.append(parcel)
        if len(self._queue) > self._limit:
            self._keep_newest(self._queue)
        self._none.clear()
        self._some.set()

    async def take(self) -> Parcel:
        """The one to send next; it is ours again if it is not `sent` before the next `take_back`."""
        await self._some.wait()
        self._taken.append(parcel := self._queue.popleft())
        if not self._queue:
            self._some.clear()
        return parcel

    def sent(self, parcel: Parcel) -> None:
        self._taken = [other for other in self._taken if other is not parcel]
        if not self._queue and not self._taken:
            self._none.set()

    def take_back(self) -> None:
        """What was taken and not sent waits again, before the rest, as far as it is not outdated."""
        self._keep_newest([*self._taken, *self._queue])
        self._taken = []
        if self._queue:
            self._some.set()

    async def all_sent(self) -> None:
        await self._none.wait()

    def _keep_newest(self, parcels: Iterable[Parcel]) -> None:
        """One for each key, and no more than there is room for."""
        newest: dict[str, Parcel] = {}
        for parcel in parcels:
            newest.pop(parcel.key, None)
            newest[parcel.key] = parcel
        self._queue = deque(list(newest.values())[-self._limit :])
