"""The telemetry port of nodes: writes each decision as a line of JSON, and adds it to the current trace."""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from soulgraph.runtime.telemetry_words import without_words
from soulgraph.runtime.tracing import trace
from soulgraph.soul.timestamps import iso


class JsonLines:
    """Appends events to a JSONL file, and passes labels and private texts to the current trace.

    Events quote users and models only with `words`.
    """

    def __init__(self, handler: logging.Handler, clock: Callable[[], float], words: bool) -> None:
        self._handler = handler
        self._clock = clock
        self._words = words

    @classmethod
    @contextmanager
    def open(cls, handler: logging.Handler, clock: Callable[[], float], words: bool = False) -> Iterator["JsonLines"]:
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
