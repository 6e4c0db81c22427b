"""A server of traces that is away is spoken of now and then, not with every batch."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

_PAUSE_S = 600.0


class Seldom(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self._again = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        now = time.monotonic()
        if record.levelno < logging.WARNING or now < self._again:
            return False
        self._again = now + _PAUSE_S
        return True


@contextmanager
def seldom(logger: str) -> Iterator[None]:
    """While the block lasts, this logger has one warning in ten minutes."""
    source, filter_ = logging.getLogger(logger), Seldom()
    source.addFilter(filter_)
    try:
        yield
    finally:
        source.removeFilter(filter_)
