"""The open event streams and web sockets of this server, by the souls they are subscribed to and for whom.

Each hears what concerns its person; one without a person, as an owner has it, hears what concerns anybody.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from soulgraph.nodes.context import ListenerEvent

_MAX_PENDING = 100

Subscription = tuple[str, str | None]
"""The ids of a soul and a person; None for anybody."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One event about a soul, such as a proactive message or a changed state."""

    event: ListenerEvent
    data: dict[str, Any]


class Listener:
    """One open connection with a bounded queue of notices.

    The soul never waits for a slow listener: when the queue is full, the oldest notice is dropped. Notices about the
    turns in `own_turns` are not queued, because the connection already receives the events of its own turns.
    """

    def __init__(self, own_turns: Container[str] = ()) -> None:
        self.subscriptions: set[Subscription] = set()
        self._own_turns = own_turns
        self._pending: deque[Notice] = deque(maxlen=_MAX_PENDING)
        self._woken = asyncio.Event()
        self._closed = False

    def push(self, notice: Notice) -> None:
        if notice.data.get("turn_id") not in self._own_turns:
            self._pending.append(notice)
            self._woken.set()

    def close(self) -> None:
        self._closed = True
        self._woken.set()

    async def events(self, timeout_s: float) -> AsyncIterator[Notice | None]:
        """Yield notices as they come, and None whenever none has come for `timeout_s`.

        Ends when the listener is closed and its queue is empty.
        """
        while self._pending or not self._closed:
            if self._pending:
                yield self._pending.popleft()
                continue
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


class Listeners:
    def __init__(self) -> None:
        self._by_subscription: dict[Subscription, list[Listener]] = {}
        self._listeners: set[Listener] = set()
        self._all_gone = asyncio.Event()
        self._closed = False

    @property
    def subscriptions(self) -> set[Subscription]:
        """Which souls have at least one listener, and for whom."""
        return set(self._by_subscription)

    @contextmanager
    def listen(self, soul_id: str, user_id: str | None = None) -> Iterator[Listener]:
        """A listener that is subscribed to this soul for as long as the block lasts."""
        with self.connect() as listener:
            self.subscribe(listener, soul_id, user_id)
            yield listener

    @contextmanager
    def connect(self, own_turns: Container[str] = ()) -> Iterator[Listener]:
        """A listener without subscriptions; `subscribe` adds them, and they end with the block."""
        listener = Listener(own_turns)
        if self._closed:
            listener.close()
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._disconnect(listener)

    def subscribe(self, listener: Listener, soul_id: str, user_id: str | None = None) -> None:
        """Send the soul's notices for this person to the listener from now on; subscribing twice has no effect."""
        subscription = soul_id, user_id
        if subscription not in listener.subscriptions:
            listener.subscriptions.add(subscription)
            self._by_subscription.setdefault(subscription, []).append(listener)

    def tell(self, soul_id: str, user_id: str, event: ListenerEvent, data: dict[str, Any]) -> int:
        """Send a notice to every listener of this soul and person; returns how many there are."""
        subscribed = (self._by_subscription.get((soul_id, person), []) for person in (user_id, None))
        listening = list(dict.fromkeys(chain.from_iterable(subscribed)))
        for listener in listening:
            listener.push(Notice(event, data))
        return len(listening)

    async def close(self, timeout_s: float) -> None:
        """Close every listener, those that connect later too, and wait up to `timeout_s` until all have left."""
        self._closed = True
        for listener in self._listeners:
            listener.close()
        if self._listeners:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._all_gone.wait()

    def _disconnect(self, listener: Listener) -> None:
        self._listeners.remove(listener)
        for subscription in listener.subscriptions:
            self._by_subscription[subscription].remove(listener)
            if not self._by_subscription[subscription]:
                del self._by_subscription[subscription]
        if self._closed and not self._listeners:
            self._all_gone.set()
