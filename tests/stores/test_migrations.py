"""Opening a database: it is brought to the newest schema, or the setting that is wrong is named."""

import asyncio
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from soulgraph.errors import ConfigurationError
from soulgraph.soul.emotions import Impressions
from soulgraph.stores.columns import metadata
from soulgraph.stores.database import Database, revisions
from soulgraph.stores.records import Picture, PictureInfo
from soulgraph.stores.schema import souls
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import NOW, live, message, point, soul

pytestmark = pytest.mark.unmigrated


def differences(connection):
    return compare_metadata(MigrationContext.configure(connection), metadata)


def tables(connection):
    return set(inspect(connection).get_table_names())


def down_and_up(connection, revision="base"):
    """The tables that are left on the way down to this revision and up again."""
    command.downgrade(alembic_config(connection), revision)
    at_the_bottom = tables(connection)
    command.upgrade(alembic_config(connection), "head")
    return at_the_bottom


def alembic_config(connection):
    config = Config()
    config.set_main_option("script_location", "soulgraph.stores:migrations")
    config.attributes["connection"] = connection
    return config


async def test_the_migrated_schema_is_the_one_the_code_uses(stores):
    assert await stores.database.run_sync(differences) == []
    assert await stores.database.run_sync(tables) == {*metadata.tables, "alembic_version"}


async def test_every_migration_can_be_undone_and_done_again(stores):
    assert await stores.database.run_sync(down_and_up) == {"alembic_version"}
    assert await stores.database.run_sync(differences) == []


async def test_a_database_from_before_the_ticks_keeps_its_souls_and_terminals(stores):
    await live(stores)
    async with stores.read() as tx:
        souls, [terminal] = await tx.souls.all(), await tx.terminals.all()
    await stores.database.run_sync(partial(down_and_up, revision="0001"))
    async with stores.read() as tx:
        assert await tx.souls.all() == souls
        assert await tx.terminals.all() == [replace(terminal, online=False, last_seen=None)]
        assert await tx.sessions.get("sess_1")


async def test_a_database_from_before_memory_finds_what_was_said_then(stores):
    await live(stores)
    async with stores.write() as tx:
        await tx.messages.append("sess_1", [message("my daughter is called Mika"), message("那我记住了")])
        before = await tx.episodes.after("soul_1")
    await stores.database.run_sync(partial(down_and_up, revision="0002"))
    async with stores.read() as tx:
        assert len(before) == 3
        assert await tx.episodes.after("soul_1") == before
        assert (await tx.sessions.get("sess_1")).guard_of("user_1") == {"hints": {}, "pending": None}


async def test_a_soul_of_the_second_model_is_taken_over_as_it_felt(stores):
    await live(stores)
    async with stores.read() as tx:
        [soul] = await tx.souls.all()
    await stores.database.run_sync(lambda sync: command.downgrade(alembic_config(sync), "0005"))
    async with stores.database.write() as connection:
        felt = soul.emotion_state.to_dict()
        before = {name: value for name, value in felt.items() if name not in Impressions._fields}
        await connection.execute(souls.update().values(emotion_state=before))
        [version] = (await connection.execute(text("SELECT model_version FROM souls"))).scalars()
        assert version == "persona-pad-v2"
    await stores.database.run_sync(lambda sync: command.upgrade(alembic_config(sync), "head"))
    async with stores.read() as tx:
        assert await tx.souls.all() == [soul]


async def test_the_picture_of_a_card_becomes_the_avatar_and_goes_back(stores):
    async with stores.write() as tx:
        await tx.characters.put("a", "a", {}, NOW)
        for name, kind in {"avatar": "image/png", "joy": "image/png"}.items():
            await tx.pictures.put(Picture("a", name, kind, b"a face", NOW + 60))
        await tx.characters.put("b", "b", {}, NOW)
        await tx.pictures.put(Picture("b", "avatar", "image/jpeg", b"no PNG", NOW))
    await stores.database.run_sync(partial(down_and_up, revision="0007"))
    assert await stores.database.run_sync(differences) == []
    async with stores.read() as tx:
        assert await tx.pictures.infos() == [PictureInfo("a", "avatar", "image/png", 6, NOW)]
        assert (await tx.pictures.find("a")).content == b"a face"


async def test_a_history_from_before_drift_was_kept_has_none(stores):
    await live(stores)
    await stores.database.run_sync(partial(down_and_up, revision="0007"))
    async with stores.read() as tx:
        assert await tx.history.between("soul_1", 0.0, 1e12) == [point(drift=None)]


async def test_opening_again_keeps_what_is_there(database_url):
    async with Database.open(database_url) as database, Stores(database).write() as tx:
        await tx.souls.add(soul())
    async with Database.open(database_url) as database, Stores(database).read() as tx:
        assert await tx.souls.all() == [soul()]


async def test_servers_may_open_an_empty_database_at_once(database_url):
    async def serve():
        async with Database.open(database_url) as database, Stores(database).read() as tx:
            return await tx.souls.all()

    assert await asyncio.gather(*[serve() for _ in range(3)]) == [[], [], []]


async def test_a_database_of_a_newer_version_is_refused(database_url):
    async with Database.open(database_url) as database, database.write() as connection:
        await connection.execute(text("UPDATE alembic_version SET version_num = 'from the future'"))
    with pytest.raises(ConfigurationError, match=r"SOULGRAPH_DATABASE_URL.*from the future"):
        async with Database.open(database_url):
            pass


@pytest.mark.parametrize(
    "url",
    [
        "",
        "soulgraph.db",
        "mysql://127.0.0.1/soul",
        "postgresql+asyncpg://127.0.0.1/soul",
        "postgresql://127.0.0.1:port/soul",
        "postgresql://127.0.0.1:1/soul",
        "postgresql://127.0.0.1:1/soul?no_such_option=1",
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///not_a_database",
    ],
)
async def test_an_unusable_url_names_the_setting(tmp_path, url):
    (tmp_path / "not_a_database").write_text("just some words, longer than the header of a database " * 20)
    with pytest.raises(ConfigurationError, match=r"^SOULGRAPH_DATABASE_URL: "):
        async with Database.open(url):
            pass


async def test_the_password_is_not_in_the_message():
    with pytest.raises(ConfigurationError) as error:
        async with Database.open("postgresql://me:hunter2@127.0.0.1:1/soul"):
            pass
    assert "127.0.0.1:1/soul" in error.value.detail
    assert "hunter2" not in error.value.detail


def test_the_names_of_the_files_are_the_revisions_in_the_order_of_alembic():
    """A start without anything to migrate reads them there, and does not import Alembic."""
    config = Config()
    config.set_main_option("script_location", "soulgraph.stores:migrations")
    scripts = [*ScriptDirectory.from_config(config).walk_revisions()]
    assert revisions() == [script.revision for script in reversed(scripts)]


def test_a_start_without_anything_to_migrate_needs_no_alembic(tmp_path):
    opened = """
import asyncio, sys
from soulgraph.stores.database import Database, revisions

async def main():
    async with Database.open(f"sqlite:///{sys.argv[1]}"):
        print("alembic" in sys.modules)

asyncio.run(main())
"""
    run = [sys.executable, "-c", opened, str(tmp_path / "some.db")]
    assert [subprocess.check_output(run, text=True).strip() for _ in range(2)] == ["True", "False"]
