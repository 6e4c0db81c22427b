"""A server of traces that is away is spoken of now and then and in short, not at length with every batch."""

import logging
import time

_PAUSE_S = 600.0
_MAX_CHARS = 300


class Seldom(logging.Filter):
    """One warning in ten minutes, and of that its first line: the rest may be pages of ids."""

    def __init__(self) -> None:
        super().__init__()
        self._again = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        if (now := time.monotonic()) < self._again:
            return False
        self._again = now + _PAUSE_S
        record.msg, record.args = record.getMessage().partition("\n")[0][:_MAX_CHARS], None
        return True


def warn_seldom(logger: str) -> None:
    """For good, because what an exporter could not send it complains of after it was closed."""
    source = logging.getLogger(logger)
    if not any(isinstance(one, Seldom) for one in source.filters):
        source.addFilter(Seldom())
