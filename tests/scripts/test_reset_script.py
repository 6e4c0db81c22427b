"""scripts/reset_soul_history.sql, run the way its own comment says."""

import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import make_url, text

from soulgraph.stores.columns import metadata
from soulgraph.stores.records import Picture
from soulgraph.tests.services import psql
from soulgraph.tests.stores.samples import NOW, live

SCRIPT = Path(__file__).parents[2] / "scripts" / "reset_soul_history.sql"
EMPTIED = {
    *("souls", "emotion_history", "sessions", "messages", "turns", "preferences", "slots", "facts", "outbox"),
    *("episodes", "episode_vectors", "episode_uses", "persona_versions", "event_provenance"),
    *("inner_versions", "relations", "lives", "usage", "plans", "chat_imports"),
}
KEPT = {"characters", "pictures", "backgrounds", "templates", "event_uses", "api_keys", "alembic_version"}
UNBOUND = {"terminals"}

pytestmark = pytest.mark.unmigrated


def run(url):
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(make_url(url).database)) as connection:
            connection.executescript(SCRIPT.read_text("utf-8"))
    else:
        command = [psql(), url, "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--file={SCRIPT}"]
        subprocess.run(command, check=True, capture_output=True, timeout=30)


async def rows(stores):
    async with stores.database.read() as connection:
        tables = sorted(EMPTIED | KEPT | UNBOUND)
        return {table: (await connection.execute(text(f"SELECT * FROM {table}"))).all() for table in tables}


@pytest.fixture
async def lived(stores):
    """Two lives, and one row on every shelf that has nothing to do with them."""
    await live(stores, 1)
    await live(stores, 2)
    async with stores.write() as tx:
        for shelf in (tx.characters, tx.backgrounds, tx.templates):
            await shelf.put("xiaoman", "小满", {"text": "a preset"}, NOW)
        await tx.pictures.put(Picture("xiaoman", "avatar", "image/png", b"a face", NOW))
        await tx.keys.create("robot", "owner", NOW)
    return stores


def test_the_script_decides_about_every_table():
    assert {*metadata.tables, "alembic_version"} == EMPTIED | KEPT | UNBOUND


async def test_it_empties_the_history_and_keeps_the_rest(lived, database_url):
    before = await rows(lived)
    assert all(before.values())
    run(database_url)
    after = await rows(lived)
    assert {table for table, left in after.items() if not left} == EMPTIED
    assert {table: after[table] for table in KEPT} == {table: before[table] for table in KEPT}


async def test_terminals_keep_their_catalog_and_lose_their_soul(lived, database_url):
    run(database_url)
    async with lived.read() as tx:
        kept = [
            (one.terminal_id, one.soul_id, one.catalog_version, one.intent_catalog) for one in await tx.terminals.all()
        ]
    assert kept == [(f"term_{n}", None, 3, [{"id": "wave"}]) for n in (1, 2)]


async def test_new_souls_can_be_made_and_bound_afterwards(lived, database_url):
    run(database_url)
    run(database_url)
    async with lived.write() as tx:
        await tx.terminals.report_catalog("term_1", 2, [], NOW)
    await live(lived, 1)
    async with lived.read() as tx:
        assert (await tx.terminals.find("term_1")).soul_id == "soul_1"


async def test_a_script_that_fails_has_changed_nothing(lived, database_url):
    before = await rows(lived)
    async with lived.database.write() as connection:
        await connection.execute(text("ALTER TABLE souls RENAME TO lost_souls"))
    with pytest.raises((sqlite3.OperationalError, subprocess.CalledProcessError)):
        run(database_url)
    async with lived.database.write() as connection:
        await connection.execute(text("ALTER TABLE lost_souls RENAME TO souls"))
    assert await rows(lived) == before
