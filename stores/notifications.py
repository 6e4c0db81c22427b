"""LISTEN and NOTIFY of PostgreSQL: texts from each server of a database to all of them, in the same order for all."""

import hashlib
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg import AsyncConnection, sql
from sqlalchemy import URL

from soulgraph.errors import StoreUnavailable
from soulgraph.stores.database import conninfo

MAX_BYTES = 7999
"""PostgreSQL takes no longer text."""
TICK_S = 2.0
_CONNECT_S = 5

# The order of a burst is kept: what is called in the select list is called after the sort.
_SEND = "SELECT pg_notify(%s, text) FROM unnest(%s::text[]) WITH ORDINALITY AS burst(text, place) ORDER BY place"


class Notifications:
    """Two connections of its own, one that hears and one that sends: neither waits for the other, nor for the pool."""

    def __init__(self, url: URL) -> None:
        self._conninfo = conninfo(url)
        self._sender: AsyncConnection | None = None
        self._channel = ""

    async def heard(self) -> AsyncGenerator[str | None, None]:
        """Every text that any server sends, from the first None on, which comes when we are listening.

        Another None comes every `TICK_S`. Raises StoreUnavailable when the connection cannot be made or has broken.
        """
        with _translated():
            connection = await self._connect()
            try:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(await _channel(connection))))
                while True:
                    yield None
                    async for notification in connection.notifies(timeout=TICK_S):
                        yield notification.payload
            finally:
                await connection.close()

    async def send(self, texts: Sequence[str]) -> None:
        """In one transaction, so in one piece; equal texts would become one. Raises StoreUnavailable."""
        with _translated():
            if self._sender is None or self._sender.closed:
                self._sender = await self._connect()
                # Nothing of this is on the disk after a crash anyhow.
                await self._sender.execute("SET synchronous_commit = off")
                self._channel = await _channel(self._sender)
            await self._sender.execute(_SEND, (self._channel, list(texts)))

    async def hang_up(self) -> None:
        """Close the connection that sends; the next text makes a new one."""
        if self._sender:
            await self._sender.close()

    async def _connect(self) -> AsyncConnection:
        return await AsyncConnection.connect(self._conninfo, autocommit=True, connect_timeout=_CONNECT_S)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, OSError) as error:
        raise StoreUnavailable(f"the database passes no messages on: {error}") from error


async def _channel(connection: AsyncConnection) -> str:
    """Of this schema: every schema of a database hears the same notifications, and may have servers of its own."""
    cursor = await connection.execute("SELECT current_schema()")
    row = await cursor.fetchone()
    schema = str(row[0]) if row else ""
    return f"soulgraph_{hashlib.blake2b(schema.encode(), digest_size=8).hexdigest()}"
