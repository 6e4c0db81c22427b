"""SQLite on the event loop: its log is written back beside it."""

import asyncio

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
