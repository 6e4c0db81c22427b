"""SQLite on the event loop.

A statement takes some 20 µs there. By way of a thread it takes ten times that, and on a busy loop it also waits for
the interpreter's switch interval, 5 ms at each crossing. Only another process's write lock is waited for, asleep.
"""

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TypeVar

from sqlalchemy.exc import OperationalError

from soulgraph.compat import InlineSqliteConnection

T = TypeVar("T")

BLOCKED_S = 0.02
_TIMEOUT_S, _POLL_S = 10.0, 0.002


async def retry_while_locked(step: Callable[[], T]) -> T:
    """Do it, again and again while another writer has the database."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            return step()
        except (sqlite3.OperationalError, OperationalError) as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(_POLL_S)


NO_AUTO_CHECKPOINT = "PRAGMA wal_autocheckpoint=0"
"""For every connection: the log is written back by `wal_checkpoints`, never by whoever happens to commit."""

_LARGE_WAL, _WAL_POLL_S = 4 * 1024 * 1024, 0.5


@asynccontextmanager
async def wal_checkpoints(path: Path) -> AsyncIterator[None]:
    """Write the log back into the database whenever it has grown large, on a thread: that waits for the disk."""
    work = asyncio.create_task(_write_back(path), name="write-ahead log")
    try:
        yield
    finally:
        work.cancel()
        await asyncio.wait({work})


async def _write_back(path: Path) -> None:
    log = path.with_name(f"{path.name}-wal")
    while True:
        await asyncio.sleep(_WAL_POLL_S)
        if log.exists() and log.stat().st_size > _LARGE_WAL:
            await asyncio.to_thread(_checkpoint, path)


def _checkpoint(path: Path) -> None:
    """Nobody has to wait for it; what is still being read stays in the log until the next time."""
    with closing(sqlite3.connect(path, timeout=BLOCKED_S)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


def inline_connection(path: str) -> InlineSqliteConnection:
    """For LangGraph's saver: like our own statements, its statements run on the event loop."""
    return InlineSqliteConnection(path, retry_while_locked, BLOCKED_S)
