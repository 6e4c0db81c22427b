"""Log lines about what clients do, once in a while: a flood of messages must not become a flood of lines."""

import logging
import time

_PERIOD_S = 60.0


class RareLog:
    """Each kind of line at most once in a minute; the next one says how many were left out."""

    def __init__(self, log: logging.Logger, period_s: float = _PERIOD_S) -> None:
        self._log = log
        self._period_s = period_s
        self._logged_at: dict[str, float] = {}
        self._left_out: dict[str, int] = {}

    def write(self, level: int, kind: str, text: str) -> None:
        """`kind` must be one of a few: they are remembered."""
        now = time.monotonic()
        if now - self._logged_at.get(kind, -self._period_s) < self._period_s:
            self._left_out[kind] = self._left_out.get(kind, 0) + 1
            return
        more = self._left_out.pop(kind, 0)
        self._logged_at[kind] = now
        self._log.log(level, "%s%s", text, f" (and {more} more like it before)" if more else "")
