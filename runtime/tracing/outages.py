"""Limits the warnings that an exporter logs while its trace server cannot be reached."""

import logging
import time

_PAUSE_S = 600.0
_MAX_CHARS = 300


class WarningLimit(logging.Filter):
    """Lets one warning through every ten minutes, and only its first line: the rest may be pages of run ids."""

    def __init__(self) -> None:
        super().__init__()
        self._silent_until = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        if (now := time.monotonic()) < self._silent_until:
            return False
        self._silent_until = now + _PAUSE_S
        record.msg, record.args = record.getMessage().partition("\n")[0][:_MAX_CHARS], None
        return True


def limit_warnings(logger_name: str) -> None:
    """Add the filter to this logger once, for the life of the process.

    It is never removed, because exporters still log what they could not send after they were closed.
    """
    logger = logging.getLogger(logger_name)
    if not any(isinstance(known, WarningLimit) for known in logger.filters):
        logger.addFilter(WarningLimit())
