"""What terminals say, taken in at once and worked through in order."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from sqlalchemy.exc import SQLAlchemyError

from soulgraph.errors import InvalidInput, SoulgraphError, StoreUnavailable
from soulgraph.terminals import topics
from soulgraph.terminals.invocations import Invocations
from soulgraph.terminals.presence import Presence
from soulgraph.terminals.reports import MAX_BYTES, SkillResult

_RETRY_S = 1.0
_MAX_QUEUED_BYTES = 64 * 1024 * 1024
_ENVELOPE = 512
"""What a message takes beside its payload, more or less."""

_log = logging.getLogger(__name__)


class Message(NamedTuple):
    terminal_id: str
    kind: str
    payload: bytes


Work = Callable[[Message], Awaitable[None]]


class Inbox:
    """Presence and results of skills are a matter of memory; what has to be stored or answered waits its turn."""

    def __init__(self, presence: Presence, invocations: Invocations, count_dropped: Callable[[], None]) -> None:
        self._presence = presence
        self.invocations = invocations
        self._count_dropped = count_dropped
        self._queue: deque[Message] = deque()
        self._bytes = 0
        self._some = asyncio.Event()

    def hear(self, topic: str, payload: bytes) -> None:
        """A terminal's message; one that makes no sense is counted, logged and dropped."""
        try:
            terminal_id, kind = topics.sender(topic)
            self._take(Message(terminal_id, kind, payload))
        except InvalidInput as error:
            self._drop(topic, payload, error)

    def _drop(self, topic: str, payload: bytes, error: Exception) -> None:
        self._count_dropped()
        _log.warning("mqtt: dropped %r on %r: %s", payload[:80], topic[:200], str(error)[:200])

    def _take(self, message: Message) -> None:
        terminal_id, kind, payload = message
        match kind.split("/"):
            case ["heartbeat"]:
                self._presence.hear(terminal_id, kind, payload)
            case ["online"]:
                self._presence.hear(terminal_id, kind, payload)
                if payload == b"offline":
                    self.invocations.lost(terminal_id)
                self._keep(message)
            case ["skills" | "intent_catalog" | "input"]:
                self._keep(message)
            case ["result", request_id]:
                result = SkillResult.read(payload)
                if result.request_id != request_id:
                    raise InvalidInput(f"the result of {result.request_id[:80]!r} came as that of another request")
                self.invocations.answered(terminal_id, result)
            case _:
                raise InvalidInput("terminals have nothing to say there")

    def _keep(self, message: Message) -> None:
        size = len(message.payload) + _ENVELOPE
        if len(message.payload) > MAX_BYTES or self._bytes + size > _MAX_QUEUED_BYTES:
            raise InvalidInput(f"{len(message.payload)} bytes: too large, or too much is waiting already")
        self._queue.append(message)
        self._bytes += size
        self._some.set()

    async def run(self, work: Work) -> None:
        """Hand every message to `work`, in order, those that came before too, until cancelled."""
        while True:
            await self._some.wait()
            await self._first(work)
            await asyncio.sleep(0)  # SQLite does not wait, and turns shall not wait for a crowd of reports

    async def _first(self, work: Work) -> None:
        """A message stays while the database is away: then it is worked on again."""
        message = self._queue[0]
        try:
            await work(message)
        except StoreUnavailable as error:
            _log.warning("mqtt: %s of %s has to wait: %s", message.kind, message.terminal_id, error.detail)
            await asyncio.sleep(_RETRY_S)
            return
        except (SoulgraphError, SQLAlchemyError) as error:
            self._drop(f"{message.terminal_id}/{message.kind}", message.payload, error)
        self._queue.popleft()
        self._bytes -= len(message.payload) + _ENVELOPE
        if not self._queue:
            self._some.clear()
