"""The bus over PostgreSQL: numbered messages, cut into parts that NOTIFY takes, and what is done when it is away."""

import asyncio
import json
import logging
import re
import time
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from itertools import islice
from typing import NamedTuple
from uuid import uuid4

from soulgraph.errors import StoreUnavailable
from soulgraph.runtime.background import in_background
from soulgraph.stores.notifications import MAX_BYTES, Notifications
from soulgraph.stores.records import Json

_MAX_PENDING = 10_000
_MAX_BURST = 2000
_MAX_AGE_S = 10.0
_MAX_SERVERS = 1000
_START_S, _SEND_S, _CLOSE_S = 5.0, 2.0, 2.0
_FIRST_DELAY_S, _MAX_DELAY_S = 0.05, 2.0
_HEADER_BYTES = 60

_PART = re.compile(r"(\w+) (\d+) (\d+)/(\d+) (.*)", re.DOTALL)
# Only ASCII: then characters are bytes, a text can be cut anywhere, and any database encoding can carry it.
_encode = json.JSONEncoder(separators=(",", ":")).encode
_log = logging.getLogger(__name__)


class _Message(NamedTuple):
    number: int
    text: str
    at: float = 0.0


class PostgresBus:
    """Messages are queued and sent in bursts, each burst in one statement.

    Handlers hear a message of their own server when it comes back, in the order in which all servers hear it. While the
    database does not carry messages they hear those of their own server at once; the other servers hear them later, or
    if they have become old not at all. Numbers tell a server what it has heard already, and what it has missed.
    """

    def __init__(self, notifications: Notifications) -> None:
        self.server_id = uuid4().hex[:8]
        self._notifications = notifications
        self._handlers: defaultdict[str, list[Callable[[Json], None]]] = defaultdict(list)
        self._gap_handlers: list[Callable[[], None]] = []
        self._outgoing: deque[_Message] = deque(maxlen=_MAX_PENDING)
        self._unheard: deque[_Message] = deque()
        self._count = self._sent = self._awaited = 0
        self._last_of: dict[str, int] = {}
        self._parts: list[str] = []
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._pending = asyncio.Event()
        self._listening = asyncio.Event()
        self._open = self._closing = False

    def publish(self, topic: str, data: Json) -> None:
        self._count += 1
        message = _Message(self._count, _encode([topic, data]), time.monotonic())
        self._outgoing.append(message)
        self._unheard.append(message)
        self._pending.set()
        if not self._listening.is_set():
            self._deliver_own(self._count)

    def subscribe(self, topic: str, handler: Callable[[Json], None]) -> None:
        self._handlers[topic].append(handler)

    def on_gap(self, handler: Callable[[], None]) -> None:
        self._gap_handlers.append(handler)

    async def settled(self) -> None:
        if self._unheard:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append((self._count, future))
            await future

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Carry messages for as long as the block lasts; what is published after it stays on this server."""
        sender = asyncio.create_task(self._send(), name="bus sender")
        try:
            async with in_background(self._listen(), "bus", "ended, and other servers are not heard any more"):
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._listening.wait(), _START_S)
                self._open = True
                yield
                self._closing = True
                self._pending.set()
                await asyncio.wait({sender}, timeout=_CLOSE_S)
        finally:
            self._break_off()
            sender.cancel()
            await asyncio.wait({sender})
            await self._notifications.hang_up()

    async def _send(self) -> None:
        """Send everything that is pending, again and again; tried anew while the database is away."""
        delay_s = _FIRST_DELAY_S
        while self._outgoing or not self._closing:
            await self._pending.wait()
            self._pending.clear()
            try:
                await self._send_pending()
                delay_s = _FIRST_DELAY_S
            except (StoreUnavailable, TimeoutError) as error:
                self._deliver_early()
                if delay_s == _FIRST_DELAY_S:
                    _log.warning("bus: other servers do not hear this one for now: %s", error)
                await self._notifications.hang_up()
                await asyncio.sleep(delay_s)
                delay_s = min(2 * delay_s, _MAX_DELAY_S)
                self._pending.set()

    async def _send_pending(self) -> None:
        while burst := self._young():
            async with asyncio.timeout(_SEND_S):
                await self._notifications.send([part for message in burst for part in self._cut(message)])
            self._sent = burst[-1].number
            # By number: while this was sent the queue may have run over, and lost its oldest.
            while self._outgoing and self._outgoing[0].number <= self._sent:
                self._outgoing.popleft()

    def _young(self) -> list[_Message]:
        """What is to be sent. What is old would only surprise others: they are told of a gap instead."""
        earliest = time.monotonic() - _MAX_AGE_S
        while self._outgoing and self._outgoing[0].at < earliest:
            self._outgoing.popleft()
        return list(islice(self._outgoing, _MAX_BURST))

    def _cut(self, message: _Message) -> Iterator[str]:
        """Each part has a number: PostgreSQL makes one of equal texts."""
        size = MAX_BYTES - _HEADER_BYTES
        pieces = range(0, len(message.text), size)
        for n, at in enumerate(pieces):
            yield f"{self.server_id} {message.number} {n}/{len(pieces)} {message.text[at : at + size]}"

    async def _listen(self) -> None:
        delay_s = _FIRST_DELAY_S
        while True:
            try:
                async with aclosing(self._notifications.heard()) as texts:
                    async for text in texts:
                        delay_s = _FIRST_DELAY_S
                        if text is None:
                            self._tick()
                        else:
                            self._take(text)
            except StoreUnavailable as error:
                if self._listening.is_set():
                    _log.warning("bus: other servers are not heard for now: %s", error)
                self._break_off()
                await asyncio.sleep(delay_s)
                delay_s = min(2 * delay_s, _MAX_DELAY_S)

    def _tick(self) -> None:
        """Raise StoreUnavailable if what was sent before the last tick has not come back: the connection is dead."""
        if not self._listening.is_set():
            self._begin()
        elif self._unheard and self._unheard[0].number <= self._awaited:
            raise StoreUnavailable("the database passes no messages on: none comes back")
        self._awaited = self._sent

    def _begin(self) -> None:
        """Messages may have been lost, unless nobody has used the bus so far."""
        self._listening.set()
        self._parts.clear()
        if self._open:
            self._tell_gap()

    def _break_off(self) -> None:
        self._listening.clear()
        self._deliver_own(self._count)

    def _deliver_early(self) -> None:
        """Other servers hear these later, and among others: what comes after one here may come before it there."""
        if self._unheard:
            self._deliver_own(self._count)
            self._tell_gap()

    def _take(self, text: str) -> None:
        """Put parts together: those of one message come one after the other."""
        if not (found := _PART.fullmatch(text)):
            return  # somebody else writes to our channel
        server_id, number, part, parts, piece = found.groups()
        if part == "0":
            self._parts.clear()
        self._parts.append(piece)
        if int(part) + 1 == int(parts) == len(self._parts):
            self._hear(server_id, _Message(int(number), "".join(self._parts)))

    def _hear(self, server_id: str, message: _Message) -> None:
        if server_id == self.server_id:
            self._deliver_own(message.number)
            return
        last = self._last_of.pop(server_id, message.number - 1)
        self._last_of[server_id] = max(last, message.number)
        if len(self._last_of) > _MAX_SERVERS:
            del self._last_of[next(iter(self._last_of))]
        if message.number > last + 1:
            self._tell_gap()
        if message.number > last:
            self._deliver(message)

    def _deliver_own(self, up_to: int) -> None:
        while self._unheard and self._unheard[0].number <= up_to:
            self._deliver(self._unheard.popleft())
        while self._waiting and self._waiting[0][0] <= up_to:
            _, future = self._waiting.popleft()
            if not future.done():  # whoever waited may have been cancelled
                future.set_result(None)

    def _deliver(self, message: _Message) -> None:
        topic, data = json.loads(message.text)
        for handler in self._handlers.get(topic, ()):
            # Not called here: an error of one handler must not end the bus.
            asyncio.get_running_loop().call_soon(handler, data)

    def _tell_gap(self) -> None:
        for handler in self._gap_handlers:
            asyncio.get_running_loop().call_soon(handler)
