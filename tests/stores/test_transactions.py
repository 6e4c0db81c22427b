"""Transactions: all or nothing, one after another where they touch, and honest when the database is away."""

import asyncio
import sqlite3
from contextlib import closing

import pytest
from sqlalchemy.exc import SQLAlchemyError

from soulgraph.errors import NotFound, StoreUnavailable
from soulgraph.stores.database import Database, database_url
from soulgraph.stores.postgres_database import PostgresDatabase
from soulgraph.stores.stores import Stores
from soulgraph.tests.services import end_connections
from soulgraph.tests.stores.samples import NOW, message, preference, slot, soul


async def add_soul(stores):
    async with stores.write() as tx:
        await tx.souls.add(soul())


async def test_what_is_written_together_is_lost_together(home):
    with pytest.raises(NotFound):
        async with home.write() as tx:
            await tx.messages.append("sess_1", [message()])
            await tx.preferences.put(preference())
            await tx.souls.rename("soul_1", "another", NOW)
            await tx.souls.get("nobody")
    async with home.read() as tx:
        assert await tx.messages.page("sess_1") == []
        assert await tx.preferences.all("soul_1") == []
        assert await tx.souls.get("soul_1") == soul()


async def test_an_error_of_the_database_does_not_quote_what_was_to_be_stored(home):
    with pytest.raises(SQLAlchemyError) as failed:
        async with home.write() as tx:
            await tx.slots.put(slot(1, "their sister is called Aurelia", "nobody"))
    assert "slots" in str(failed.value)
    assert "Aurelia" not in str(failed.value)


async def test_a_cancelled_writer_leaves_nothing_and_frees_the_way(home):
    async def never_finish():
        async with home.write() as tx:
            await tx.souls.lock("soul_1")
            await tx.souls.rename("soul_1", "another", NOW)
            locked.set()
            await asyncio.sleep(60)

    locked = asyncio.Event()
    writer = asyncio.create_task(never_finish())
    await locked.wait()
    writer.cancel()
    await asyncio.wait([writer])
    async with asyncio.timeout(5), home.write() as tx:
        assert await tx.souls.lock("soul_1") == soul()


async def test_a_reader_neither_waits_for_a_writer_nor_sees_its_work_early(home):
    async with home.write() as writer:
        await writer.souls.rename("soul_1", "another", NOW)
        async with asyncio.timeout(5), home.read() as reader:
            assert await reader.souls.get("soul_1") == soul()


async def test_twenty_writers_that_lock_one_soul_lose_nothing(home):
    async def grow(n):
        async with home.write() as tx:
            profile = (await tx.souls.lock("soul_1")).dynamic_profile
            await asyncio.sleep(0)
            await tx.souls.grow("soul_1", {"items": [*profile.get("items", []), n]}, NOW)

    await asyncio.gather(*map(grow, range(20)))
    async with home.read() as tx:
        grown = await tx.souls.get("soul_1")
    assert sorted(grown.dynamic_profile["items"]) == list(range(20))
    assert grown.version == 21


async def test_two_servers_that_lock_one_soul_lose_nothing(home, database_url):
    async def grow(stores):
        for _ in range(5):
            async with stores.write() as tx:
                profile = (await tx.souls.lock("soul_1")).dynamic_profile
                await tx.souls.grow("soul_1", {"n": profile.get("n", 0) + 1}, NOW)

    async with Database.open(database_url) as database:
        await asyncio.gather(grow(home), grow(Stores(database)))
    async with home.read() as tx:
        assert (await tx.souls.get("soul_1")).dynamic_profile == {"n": 10}


@pytest.fixture
async def beside_another_process(sqlite_url):
    """Stores on SQLite, and another connection that holds the write lock until it is told to end."""
    async with Database.open(sqlite_url) as database:
        with closing(sqlite3.connect(database.url.database, isolation_level=None, timeout=1)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield Stores(database), other


async def test_waiting_for_another_process_stops_nobody_but_the_writer(beside_another_process):
    stores, other = beside_another_process
    writer = asyncio.create_task(add_soul(stores))
    await asyncio.sleep(0.1)
    assert not writer.done()
    other.execute("COMMIT")
    async with asyncio.timeout(5):
        await writer


async def test_a_writer_that_gives_up_waiting_takes_no_lock(beside_another_process):
    stores, other = beside_another_process
    writer = asyncio.create_task(add_soul(stores))
    await asyncio.sleep(0.05)
    writer.cancel()
    await asyncio.wait([writer])
    other.execute("COMMIT")
    await asyncio.sleep(0.05)
    other.execute("BEGIN IMMEDIATE")
    other.execute("COMMIT")
    await add_soul(stores)


async def test_an_open_database_answers_a_ping(stores):
    async with stores.read() as tx:
        await tx.ping()


@pytest.mark.parametrize("access", ["read", "write"])
async def test_a_database_that_is_away_is_unavailable(access):
    stores = Stores(PostgresDatabase(database_url("postgresql://127.0.0.1:1/soul")))
    with pytest.raises(StoreUnavailable):
        async with getattr(stores, access)() as tx:
            await tx.ping()


async def test_a_database_that_another_process_never_frees_is_unavailable(beside_another_process, monkeypatch):
    monkeypatch.setattr("soulgraph.stores.sqlite._TIMEOUT_S", 0.05)
    stores, _ = beside_another_process
    with pytest.raises(StoreUnavailable):
        await add_soul(stores)
    async with stores.read() as tx:
        assert await tx.souls.all() == []


async def test_a_connection_lost_in_mid_transaction_loses_that_transaction_only(postgres_url):
    async with Database.open(postgres_url) as database:
        stores = Stores(database)
        with pytest.raises(StoreUnavailable):
            async with stores.write() as tx:
                await tx.souls.add(soul())
                end_connections(postgres_url)
                await tx.ping()
        await add_soul(stores)
        async with stores.read() as tx:
            assert await tx.souls.all() == [soul()]


async def test_connections_lost_between_transactions_are_replaced_unnoticed(postgres_url):
    async with Database.open(postgres_url) as database:
        stores = Stores(database)
        async with stores.read() as one, stores.read() as other:
            await one.ping()
            await other.ping()
        end_connections(postgres_url)
        async with stores.read() as one, stores.read() as other:
            await one.ping()
            await other.ping()
