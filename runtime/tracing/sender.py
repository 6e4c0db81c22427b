"""A thread that exports complete traces, several at once, so that no turn waits and a busy server sends little."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from soulgraph.runtime.tracing.outages import limit_warnings
from soulgraph.runtime.tracing.runs import RunTree

T = TypeVar("T")

Prepare = Callable[[RunTree], list[T]]
Send = Callable[[list[T]], None]

TIMEOUT_S = 5.0
_GATHER_S = 1.0
_MAX_WAITING, _MAX_BATCH = 200, 10
_log = logging.getLogger(__name__)


class Sender(Generic[T]):
    """What comes while too much is waiting already is dropped, so that a server that is away costs little memory."""

    def __init__(self, name: str, prepare: Prepare[T], send: Send[T]) -> None:
        limit_warnings(__name__)
        self._name = name
        self._prepare = prepare
        self._send = send
        self._waiting: deque[RunTree] = deque()
        self._changed = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name=f"traces-{name}", daemon=True)
        self._thread.start()

    def put(self, tree: RunTree) -> None:
        with self._changed:
            if len(self._waiting) >= _MAX_WAITING:
                _log.warning("%s: the server of traces does not keep up: a trace is dropped", self._name)
                return
            self._waiting.append(tree)
            if len(self._waiting) in (1, _MAX_BATCH):  # the thread sleeps meanwhile
                self._changed.notify()

    def close(self, timeout_s: float = TIMEOUT_S) -> None:
        """Send what is waiting, for as long as that; the rest is lost."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._thread.join(timeout_s)

    def _run(self) -> None:
        while batch := self._next_batch():
            self._send([run for tree in batch for run in self._prepared(tree)])

    def _prepared(self, tree: RunTree) -> list[T]:
        """A trace that cannot be told is left out, for tools may return anything; the others are sent."""
        try:
            return self._prepare(tree)
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            _log.warning("%s: the trace of %s cannot be told: %r", self._name, tree.root.name, error)
            return []

    def _next_batch(self) -> list[RunTree]:
        """Wait for a trace, then a little for others; empty when it is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing)
            until = time.monotonic() + _GATHER_S
            while len(self._waiting) < _MAX_BATCH and not self._closing:
                if not self._changed.wait(max(0.0, until - time.monotonic())):
                    break
            return [self._waiting.popleft() for _ in range(min(_MAX_BATCH, len(self._waiting)))]
