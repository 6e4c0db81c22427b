"""What personas decide and why: one line of JSON each, and the same on the root run of the trace."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from soulgraph.runtime.tracing import trace
from soulgraph.soul.timestamps import iso

MAX_FILE, FILES_KEPT = 20 * 1024 * 1024, 5


class JsonLines:
    """The telemetry port of nodes: appends to a file (a full one is kept beside it), and labels the current trace."""

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
        trace.decided(event, fields)
        line = json.dumps({"event": event, "at": iso(self._clock()), **fields}, ensure_ascii=False, default=str)
        self._handler.emit(logging.makeLogRecord({"msg": line}))

    def label(self, **labels: str) -> None:
        trace.label(**labels)

    def labels(self) -> dict[str, str]:
        return trace.labels()

    def keep_private(self, *texts: str) -> None:
        trace.keep_private(*texts)
