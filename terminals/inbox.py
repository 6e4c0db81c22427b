"""The inbox for messages of terminals: received at once, worked through in order by a background task."""

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
from soulgraph.terminals.rare_log import RareLog
from soulgraph.terminals.reports import MAX_BYTES, SkillResult

_RETRY_S = 1.0
_MAX_QUEUED_BYTES = 64 * 1024 * 1024
_OVERHEAD_BYTES = 512
"""Memory that a message takes beside its payload, roughly."""

_log = logging.getLogger(__name__)


class Message(NamedTuple):
    terminal_id: str
    kind: str
    payload: bytes


Work = Callable[[Message], Awaitable[None]]


class Inbox:
    """Presence and skill results are handled on arrival, in memory; what must be stored or answered is queued."""

    def __init__(self, presence: Presence, invocations: Invocations, count_dropped: Callable[[], None]) -> None:
        self._presence = presence
        self.invocations = invocations
        self._count_dropped = count_dropped
        self._queue: deque[Message] = deque()
        self._bytes = 0
        self._not_empty = asyncio.Event()
        self._is_working = False
        self._rare_log = RareLog(_log)

    def receive(self, topic: str, payload: bytes) -> None:
        """Take in a terminal's message. One that is invalid is counted, logged and dropped."""
        try:
            terminal_id, kind = topics.parse(topic)
            self._dispatch(Message(terminal_id, kind, payload))
        except InvalidInput as error:
            self._drop(topic, payload, error)

    def _drop(self, topic: str, payload: bytes, error: Exception) -> None:
        self._count_dropped()
        # Its size and not its beginning, which may be what a user said.
        text = f"mqtt: dropped {len(payload)} bytes on {topic[:200]!r}: {str(error)[:200]}"
        self._rare_log.write(logging.WARNING, f"{type(error).__name__} {topics.said_on(topic)}", text)

    def _dispatch(self, message: Message) -> None:
        terminal_id, kind, payload = message
        match kind.split("/"):
            case ["online"] if not payload:  # what the broker retained has been cleared: the terminal is deleted
                self._presence.forget(terminal_id)
                self._discard(terminal_id)
            case ["skills" | "intent_catalog"] if not payload:
                pass
            case ["heartbeat"]:
                self._presence.receive(terminal_id, kind, payload)
            case ["online"]:
                self._presence.receive(terminal_id, kind, payload)
                if payload == b"offline":
                    self.invocations.fail_all(terminal_id)
                self._enqueue(message)
            case ["skills" | "intent_catalog" | "input"]:
                self._enqueue(message)
            case ["result", request_id]:
                result = SkillResult.read(payload)
                if result.request_id != request_id:
                    raise InvalidInput(f"the result of {result.request_id[:80]!r} came as that of another request")
                self.invocations.resolve(terminal_id, result)
            case _:
                raise InvalidInput("terminals have nothing to say there")

    def _enqueue(self, message: Message) -> None:
        size = len(message.payload) + _OVERHEAD_BYTES
        if len(message.payload) > MAX_BYTES or self._bytes + size > _MAX_QUEUED_BYTES:
            raise InvalidInput(f"{len(message.payload)} bytes: too large, or too much is waiting already")
        self._queue.append(message)
        self._bytes += size
        self._not_empty.set()

    def _discard(self, terminal_id: str) -> None:
        """Discard what a terminal said before it was deleted, but for what is being worked on."""
        for place in reversed(range(int(self._is_working), len(self._queue))):
            if self._queue[place].terminal_id == terminal_id:
                self._remove(place)

    def _remove(self, place: int) -> None:
        self._bytes -= len(self._queue[place].payload) + _OVERHEAD_BYTES
        del self._queue[place]
        if not self._queue:
            self._not_empty.clear()

    async def run(self, work: Work) -> None:
        """Hand every message to `work`, in order, beginning with those received before, until cancelled."""
        while True:
            await self._not_empty.wait()
            await self._work_on_first(work)
            await asyncio.sleep(0)  # SQLite calls never yield, so turns would wait for a crowd of reports

    async def _work_on_first(self, work: Work) -> None:
        """Work on the first message and remove it. It stays if the database is down, to be tried again."""
        message = self._queue[0]
        self._is_working = True
        try:
            await work(message)
        except StoreUnavailable as error:
            _log.warning("mqtt: %s of %s has to wait: %s", message.kind, message.terminal_id, error.detail)
            self._is_working = False
            await asyncio.sleep(_RETRY_S)
            return
        except (SoulgraphError, SQLAlchemyError) as error:
            self._drop(topics.topic(message.terminal_id, message.kind), message.payload, error)
        except Exception:  # noqa: BLE001
            # A mistake of ours: whatever it is, the other terminals are to be heard.
            _log.exception("mqtt: %s of %s could not be worked on", message.kind, message.terminal_id)
            self._count_dropped()
        finally:
            self._is_working = False
        self._remove(0)
