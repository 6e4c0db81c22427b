"""What is on its way to terminals and need not be there at once."""

import asyncio
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from soulgraph.terminals.payloads import Payload

_MOST = 10_000


class Parcel(NamedTuple):
    """Something to publish. Of two with the same `key` only the newer is worth sending."""

    topic: str
    payload: Payload
    key: str


class Waiting:
    """In order. Where it piles up, what is outdated goes first, and then what is oldest."""

    def __init__(self, limit: int = _MOST) -> None:
        self._limit = limit
        self._queue: deque[Parcel] = deque()
        self._some, self._none = asyncio.Event(), asyncio.Event()
        self._none.set()

    def put(self, parcel: Parcel) -> None:
        self._queue.append(parcel)
        if len(self._queue) > self._limit:
            self.keep_newest()
        self._none.clear()
        self._some.set()

    def keep_newest(self) -> None:
        """One for each key, and no more than there is room for."""
        newest: dict[str, Parcel] = {}
        for parcel in self._queue:
            newest.pop(parcel.key, None)
            newest[parcel.key] = parcel
        self._queue = deque(list(newest.values())[-self._limit :])

    async def first(self, most: int) -> list[Parcel]:
        """Those to send next; they stay until they are `sent`."""
        await self._some.wait()
        return [*islice(self._queue, most)]

    def sent(self, parcels: Sequence[Parcel]) -> None:
        for parcel in parcels:
            if self._queue and self._queue[0] is parcel:  # not if it was outdated meanwhile
                self._queue.popleft()
        if not self._queue:
            self._some.clear()
            self._none.set()

    async def all_sent(self) -> None:
        await self._none.wait()
