"""A database that cannot be used says why: the disk is full, it is read-only, or it does not answer."""

import sqlite3

import pytest
from sqlalchemy import text

from soulgraph.errors import StoreUnavailable
from soulgraph.stores.database import Database
from soulgraph.stores.failures import translated
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import soul

ENTIRE_DISK = 2**30


async def test_a_full_disk_is_named_and_space_is_used_as_soon_as_there_is_some(sqlite_url):
    async with Database.open(sqlite_url) as database:
        stores = Stores(database)
        async with stores.read() as tx:
            # SQLite's own limit of the file: no more than there is. What it says then is what it says of a full disk.
            await tx._connection.execute(text("PRAGMA max_page_count=1"))
        with pytest.raises(StoreUnavailable, match="the disk is full, and nothing was written: free some space"):
            async with stores.write() as tx:
                await tx.souls.add(soul(scratch_area="x" * 100_000))
        async with stores.read() as tx:
            assert await tx.souls.all() == []
            await tx._connection.execute(text(f"PRAGMA max_page_count={ENTIRE_DISK}"))
        async with stores.write() as tx:
            await tx.souls.add(soul(scratch_area="x" * 100_000))


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("53100", "the disk is full, and nothing was written: free some space"),
        ("53300", "no connection is left"),
        ("57P01", "does not answer"),
        ("25006", "the database is read-only"),
    ],
)
async def test_what_postgres_says_of_itself_is_no_failure_of_ours(postgres_url, state, why):
    failing = text(f"DO $$ BEGIN RAISE EXCEPTION 'so it is' USING ERRCODE = '{state}'; END $$")
    async with Database.open(postgres_url) as database:
        with pytest.raises(StoreUnavailable, match=why):
            async with Stores(database).write() as tx:
                await tx._connection.execute(failing)


async def test_a_postgres_that_takes_no_writes_is_unavailable(postgres_url):
    standby = postgres_url.replace("synchronous_commit%3Doff", "default_transaction_read_only%3Don")
    async with Database.open(standby) as database:
        with pytest.raises(StoreUnavailable, match="read-only"):
            async with Stores(database).write() as tx:
                await tx.souls.add(soul())


def test_a_damaged_file_is_unavailable(tmp_path):
    file = tmp_path / "damaged.db"
    file.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    with pytest.raises(StoreUnavailable), translated():
        sqlite3.connect(file).execute("SELECT * FROM sqlite_master")


def test_an_error_of_ours_stays_what_it_is():
    with pytest.raises(sqlite3.IntegrityError), translated():
        raise sqlite3.IntegrityError("UNIQUE constraint failed")
    with pytest.raises(sqlite3.ProgrammingError), translated():
        raise sqlite3.ProgrammingError("Incorrect number of bindings supplied")
