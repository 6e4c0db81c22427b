"""SQLite on the event loop: its log is written back beside it."""

import asyncio
import sqlite3

from sqlalchemy import text

from soulgraph.stores import sqlite
from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import soul

LARGE = 4 * 1024 * 1024


async def test_a_log_that_has_grown_large_is_written_back_and_used_again(sqlite_url, tmp_path):
    log = tmp_path / "soulgraph.db-wal"
    async with Database.open(sqlite_url) as database:
        stores = Stores(database)

        async def write(n: int) -> None:
            async with stores.write() as tx:
                await tx.souls.add(soul(f"soul_{n}", inner_state="x" * 1024 * 1024))

        for n in range(6):
            await write(n)
        grown = log.stat().st_size
        assert grown > LARGE, "nobody who commits writes it back"
        await asyncio.sleep(1.5)
        for n in range(6, 9):
            await write(n)
        assert log.stat().st_size == grown, "what was written back makes room"
        async with stores.read() as tx:
            assert len(await tx.souls.all()) == 9


async def test_a_log_that_finds_no_room_in_the_database_is_written_back_later(sqlite_url, monkeypatch, caplog):
    tried = asyncio.Queue()
    loop = asyncio.get_running_loop()
    full = [sqlite3.OperationalError("database or disk is full")] * 2

    def checkpoint(path):
        loop.call_soon_threadsafe(tried.put_nowait, path)
        if full:
            raise full.pop()

    monkeypatch.setattr(sqlite, "_checkpoint", checkpoint)
    monkeypatch.setattr(sqlite, "_WAL_POLL_S", 0.001)
    monkeypatch.setattr(sqlite, "_LARGE_WAL", 0)
    async with Database.open(sqlite_url) as database, asyncio.timeout(10):
        async with Stores(database).write() as tx:
            await tx.souls.add(soul())
        for _ in range(4):
            await tried.get()
    said = [record.getMessage() for record in caplog.records]
    assert said == ["the write-ahead log cannot be written back: database or disk is full; trying again"]


async def test_an_idle_connection_keeps_few_pages(sqlite_url):
    async with Database.open(sqlite_url) as database, database.read() as connection:
        assert (await connection.execute(text("PRAGMA cache_size"))).scalar() == -512
