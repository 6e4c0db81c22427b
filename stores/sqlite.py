"""SQLite on the event loop, without threads.

A statement takes some 20 µs that way. In a thread it takes ten times that, and on a busy loop it also waits for the
interpreter's switch interval, 5 ms each time control passes between threads. Only waiting for the write lock of
another process is done with `asyncio.sleep`.
"""

import asyncio
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import TypeVar

from sqlalchemy.exc import OperationalError

T = TypeVar("T")
_log = logging.getLogger(__name__)

BLOCKED_S = 0.02
"""How long SQLite itself may block the event loop while it waits for a lock."""
_TIMEOUT_S, _POLL_S = 10.0, 0.002


async def retry_while_locked(step: Callable[[], T]) -> T:
    """Call `step` until the database is not locked by another writer; raises its error after ten seconds."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            return step()
        except (sqlite3.OperationalError, OperationalError) as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
        await asyncio.sleep(_POLL_S)


NO_AUTO_CHECKPOINT = "PRAGMA wal_autocheckpoint=0"
"""For every connection: `wal_checkpoints` writes the log back, so that no commit has to wait for that."""

SMALL_CACHE = "PRAGMA cache_size=-512"
"""For every connection: 512 kB of pages. It forgets them anyway when another one has written, and what it reads again
is in the cache of the operating system; each of the idle ones would keep 2 MB."""

_LARGE_WAL, _WAL_POLL_S = 4 * 1024 * 1024, 0.5


@asynccontextmanager
async def wal_checkpoints(path: Path) -> AsyncIterator[None]:
    """While the block lasts, write the write-ahead log back into the database whenever it has grown large."""
    task = asyncio.create_task(_checkpoint_when_large(path), name="write-ahead log")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


async def _checkpoint_when_large(path: Path) -> None:
    log = path.with_name(f"{path.name}-wal")
    healthy = True
    while True:
        await asyncio.sleep(_WAL_POLL_S)
        try:
            if log.exists() and log.stat().st_size > _LARGE_WAL:
                await asyncio.to_thread(_checkpoint, path)  # in a thread, because it waits for the disk
                healthy = True
        except (sqlite3.Error, OSError) as error:
            if healthy:  # one warning until it succeeds again: a disk may be full for days
                _log.warning("the write-ahead log cannot be written back: %s; trying again", error)
            healthy = False


def _checkpoint(path: Path) -> None:
    """A passive checkpoint blocks nobody; pages that are still being read stay in the log until the next one."""
    with closing(sqlite3.connect(path, timeout=BLOCKED_S)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
