"""SQLite connections that run their statements where they are called.

A statement of ours takes some ten microseconds; handing it to a thread and back takes twenty times as long, and
the stock driver does so four times for each. Only waiting for another process's write lock is asynchronous.
"""

import sqlite3
from collections.abc import Sequence
from typing import Any

import aiosqlite


class Connection(aiosqlite.Connection):
    """An aiosqlite connection as SQLAlchemy uses it. It begins transactions itself (see `Database`)."""

    def __init__(self, path: str) -> None:
        super().__init__(
            lambda: sqlite3.connect(path, isolation_level=None, check_same_thread=False), iter_chunk_size=64
        )
        self._thread.daemon = True

    def cursor(self) -> "Cursor":  # type: ignore[override]
        return Cursor(self)

    async def rollback(self) -> None:
        if self.in_transaction:
            self._conn.rollback()

    async def commit(self) -> None:
        self._conn.commit()


class Cursor:
    """Runs one statement and keeps what came of it."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None

    async def __aenter__(self) -> "Cursor":
        return self

    async def execute(self, statement: str, parameters: Sequence[Any] = ()) -> None:
        self._run("execute", statement, parameters)

    async def executemany(self, statement: str, parameters: Sequence[Sequence[Any]]) -> None:
        self._run("executemany", statement, parameters)

    async def fetchall(self) -> list[Any]:
        return self._rows

    async def close(self) -> None:
        self._rows = []

    def _run(self, method: str, statement: str, parameters: Sequence[Any]) -> None:
        cursor = getattr(self._connection._conn, method)(statement, parameters)
        if cursor.description:
            self._rows = cursor.fetchall()
        self.description, self.rowcount, self.lastrowid = cursor.description, cursor.rowcount, cursor.lastrowid
        cursor.close()
