"""Who listens to a soul on this server between its turns: open streams and sockets."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from soulgraph.nodes.context import ListenerEvent

_MAX_UNHEARD = 100


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened to a soul without the listener's doing."""

    event: ListenerEvent
    data: dict[str, Any]


class Listener:
    """One open line. It never makes the soul wait: what it does not take in time it loses, the oldest first.

    Of its own turns, named by their ids, it hears nothing here: it knows what came of them.
    """

    def __init__(self, own_turns: Container[str] = ()) -> None:
        self.souls: set[str] = set()
        self._own_turns = own_turns
        self._unheard: deque[News] = deque(maxlen=_MAX_UNHEARD)
        self._stirred = asyncio.Event()
        self._closed = False

    def hear(self, news: News) -> None:
        if news.data.get("turn_id") not in self._own_turns:
            self._unheard.append(news)
            self._stirred.set()

    def close(self) -> None:
        self._closed = True
        self._stirred.set()

    async def news(self, timeout_s: float) -> AsyncIterator[News | None]:
        """News as they come, None whenever nothing has come for `timeout_s`, and an end when the line is closed."""
        while self._unheard or not self._closed:
            if self._unheard:
                yield self._unheard.popleft()
                continue
            self._stirred.clear()
            if not await self._stirs(timeout_s):
                yield None

    async def _stirs(self, timeout_s: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                return await self._stirred.wait()
        return False


class Listeners:
    def __init__(self) -> None:
        self._of_soul: dict[str, list[Listener]] = {}
        self._lines: set[Listener] = set()
        self._deserted = asyncio.Event()
        self._closed = False

    @property
    def souls(self) -> set[str]:
        """Those that somebody listens to."""
        return set(self._of_soul)

    @contextmanager
    def listen(self, soul_id: str) -> Iterator[Listener]:
        """A line to this soul, for as long as the block lasts."""
        with self.line() as listener:
            self.join(listener, soul_id)
            yield listener

    @contextmanager
    def line(self, own_turns: Container[str] = ()) -> Iterator[Listener]:
        """A line to no soul yet; those that it joins it hears until the block ends."""
        listener = Listener(own_turns)
        if self._closed:
            listener.close()
        self._lines.add(listener)
        try:
            yield listener
        finally:
            self._leave(listener)

    def join(self, listener: Listener, soul_id: str) -> None:
        if soul_id not in listener.souls:
            listener.souls.add(soul_id)
            self._of_soul.setdefault(soul_id, []).append(listener)

    def tell(self, soul_id: str, event: ListenerEvent, data: dict[str, Any]) -> int:
        """How many heard it."""
        listening = self._of_soul.get(soul_id, [])
        for listener in listening:
            listener.hear(News(event, data))
        return len(listening)

    async def close(self, timeout_s: float) -> None:
        """End every line, now and from now on: the server is going away. Wait a moment until all have left."""
        self._closed = True
        for listener in self._lines:
            listener.close()
        if self._lines:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._deserted.wait()

    def _leave(self, listener: Listener) -> None:
        self._lines.remove(listener)
        for soul_id in listener.souls:
            self._of_soul[soul_id].remove(listener)
            if not self._of_soul[soul_id]:
                del self._of_soul[soul_id]
        if self._closed and not self._lines:
            self._deserted.set()
