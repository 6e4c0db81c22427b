"""The telemetry port of nodes: writes each decision as a line of JSON, and adds it to the current trace."""

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Any

from soulgraph.runtime.data_dir import open_private
from soulgraph.runtime.telemetry_words import without_words
from soulgraph.runtime.tracing import trace
from soulgraph.soul.timestamps import iso

MAX_FILE, FILES_KEPT = 20 * 1024 * 1024, 5
_log = logging.getLogger(__name__)


class _PrivateFile(RotatingFileHandler):
    """What cannot be written is lost, and costs nobody a turn; the log says once when that begins and ends."""

    _error: BaseException | None = None

    def emit(self, record: logging.LogRecord) -> None:
        before, self._error = self._error, None
        super().emit(record)
        if self._error and not before:
            _log.warning("telemetry is not written: %s", self._error)
        elif before and not self._error:
            _log.warning("telemetry is written again")

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - its name in the library
        self._error = sys.exc_info()[1]

    def _open(self) -> TextIOWrapper:
        return open(self.baseFilename, "a", encoding=self.encoding, opener=open_private)


class JsonLines:
    """Appends events to a rotating JSONL file, and passes labels and private texts to the current trace.

    Events quote users and models only with `words`.
    """

    def __init__(self, handler: logging.Handler, clock: Callable[[], float], words: bool) -> None:
        self._handler = handler
        self._clock = clock
        self._words = words

    @classmethod
    @contextmanager
    def open(cls, path: Path, clock: Callable[[], float], words: bool = False) -> Iterator["JsonLines"]:
        # `delay`: the file is created with the first event, not at start-up.
        handler = _PrivateFile(path, maxBytes=MAX_FILE, backupCount=FILES_KEPT, encoding="utf-8", delay=True)
        try:
            yield cls(handler, clock, words)
        finally:
            handler.close()

    def emit(self, event: str, **fields: Any) -> None:
        told = fields if self._words else without_words(event, fields)
        trace.add_decision(event, told)
        line = json.dumps({"event": event, "at": iso(self._clock()), **told}, ensure_ascii=False, default=str)
        # Past the loggers, so that no log level or filter can drop an event.
        self._handler.emit(logging.makeLogRecord({"msg": line}))

    def label(self, **labels: str) -> None:
        trace.add_labels(**labels)

    def labels(self) -> dict[str, str]:
        return trace.current_labels()

    def keep_private(self, *texts: str) -> None:
        trace.keep_private(*texts)
