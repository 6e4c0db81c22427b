"""One open event stream or web socket: its subscriptions, and a queue of what it is told."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Container
from contextlib import suppress

from soulgraph.nodes.context import ListenerEvent
from soulgraph.runtime.notices import Notice, Subscription
from soulgraph.stores.records import Json

_MAX_PENDING = 100


class Listener:
    """One open connection with a bounded queue of notices.

    The soul never waits for a slow listener: when the queue is full, the oldest notice is dropped, and if it was one
    that can be told again, a listener that follows the soul is told that it has missed something. Notices about the
    turns in `own_turns` are not queued, because the connection already receives their events; only their nodes are.
    """

    def __init__(self, own_turns: Container[str] = ()) -> None:
        self.subscriptions: set[Subscription] = set()
        self._own_turns = own_turns
        self._pending: deque[Notice] = deque()
        self._missed: dict[str, str] = {}
        self._woken = asyncio.Event()
        self._closed = False

    @property
    def followed(self) -> set[str]:
        """The souls of which it hears everything."""
        return {one.soul_id for one in self.subscriptions if one.everything}

    def is_own(self, event: ListenerEvent, data: Json) -> bool:
        """Whether it is about a turn whose events the connection receives."""
        return event != "node" and data.get("turn_id") in self._own_turns

    def push(self, notice: Notice) -> None:
        if self.is_own(notice.event, notice.data):
            return
        if len(self._pending) >= _MAX_PENDING:
            self._drop_oldest()
        self._pending.append(notice)
        self._woken.set()

    def discard(self, soul_id: str) -> None:
        """Forget what is still to be sent about this soul."""
        self._pending = deque(notice for notice in self._pending if notice.data.get("soul_id") != soul_id)
        self._missed.pop(soul_id, None)

    def _drop_oldest(self) -> None:
        dropped = self._pending.popleft()
        if dropped.id is not None and (soul_id := dropped.data.get("soul_id")) in self.followed:
            self._missed[soul_id] = dropped.id

    def close(self) -> None:
        self._closed = True
        self._woken.set()

    async def events(self, timeout_s: float) -> AsyncIterator[Notice | None]:
        """Yield notices as they come, and None whenever none has come for `timeout_s`.

        Ends when the listener is closed and its queue is empty.
        """
        while self._pending or not self._closed:
            if self._missed:
                yield listening(*self._missed.popitem(), missed=True)
            elif self._pending:
                yield self._pending.popleft()
            else:
                # No notice can be lost here: there is no await between finding the queue empty and the wait.
                self._woken.clear()
                if not await self._wait(timeout_s):
                    yield None

    async def _wait(self, timeout_s: float) -> bool:
        """Wait for a notice or for `close`; False after `timeout_s`."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await self._woken.wait()
        return False


def listening(soul_id: str, last_event_id: str, missed: bool) -> Notice:
    """What a listener is told as it begins to follow a soul, and when it has missed something of it."""
    data = {"soul_id": soul_id, "last_event_id": last_event_id, "missed": missed}
    return Notice("listening", data, last_event_id)
