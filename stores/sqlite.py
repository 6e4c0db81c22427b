"""SQLite on the event loop.

A statement takes some 20 µs there. By way of a thread it takes ten times that, and on a busy loop it also waits for
the interpreter's switch interval, 5 ms at each crossing. Only another process's write lock is waited for, asleep.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy.exc import OperationalError

T = TypeVar("T")

BLOCKED_S = 0.02
_PATIENCE_S, _POLL_S = 10.0, 0.002


async def patiently(step: Callable[[], T]) -> T:
    """Do it, again and again while another writer has the database."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        try:
            return step()
        except (sqlite3.OperationalError, OperationalError) as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(_POLL_S)


class InlineConnection(aiosqlite.Connection):
    """For LangGraph's saver, which wants an aiosqlite connection."""

    def __init__(self, path: str) -> None:
        super().__init__(lambda: sqlite3.connect(path, timeout=BLOCKED_S, check_same_thread=False), iter_chunk_size=64)
        self._thread.daemon = True

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await patiently(lambda: fn(*args, **kwargs))
