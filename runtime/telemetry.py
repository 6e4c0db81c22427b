"""What the persona decided and why: one line of JSON each, and the same on the run of the whole trace."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any, Protocol

from soulgraph.runtime.tracing.trace import decided
from soulgraph.soul.timestamps import iso

MAX_FILE, FILES_KEPT = 20 * 1024 * 1024, 5


class Telemetry(Protocol):
    def emit(self, event: str, **fields: Any) -> None: ...


class NoTelemetry:
    def emit(self, event: str, **fields: Any) -> None:
        """For those who embed the turn and keep their own books."""


class JsonLines:
    """Appends to a file; a full one is kept beside it under a number."""

    def __init__(self, handler: logging.Handler, clock: Callable[[], float]) -> None:
        self._handler = handler
        self._clock = clock

    @classmethod
    @contextmanager
    def open(cls, path: Path, clock: Callable[[], float]) -> Iterator["JsonLines"]:
        handler = RotatingFileHandler(path, maxBytes=MAX_FILE, backupCount=FILES_KEPT, encoding="utf-8", delay=True)
        try:
            yield cls(handler, clock)
        finally:
            handler.close()

    def emit(self, event: str, **fields: Any) -> None:
        decided(event, fields)
        line = json.dumps({"event": event, "at": iso(self._clock()), **fields}, ensure_ascii=False, default=str)
        self._handler.emit(logging.makeLogRecord({"msg": line}))
