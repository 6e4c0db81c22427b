"""Chroma's folder in every state of damage: one error, told at once, and rebuilt from the database."""

import asyncio
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache

import numpy as np
import pytest

from soulgraph.errors import Conflict, MemoryUnavailable
from soulgraph.memory import chroma_client, upkeep
from soulgraph.memory.events import Event, Pattern, open_events
from soulgraph.memory.summaries import open_summaries
from soulgraph.memory.upkeep import MemoryHealth
from soulgraph.soul.people import EVERYONE
from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests.memory.chroma import chroma_server
from soulgraph.tests.memory.damage import OF_THE_DATABASE, OF_THE_INDEX
from soulgraph.tests.memory.words_as_vectors import WordVectors
from soulgraph.tests.stores.samples import NOW, session, soul

FEW, MANY = 4, 110  # an index is written when a hundred documents wait for it
WORDS = ["bread", "rain", "violin", "lantern", "harbour", "orchard", "marble", "falcon", "ginger", "quartz", "velvet"]
QUESTION = "a falcon and a violin"


def told(n):
    one, other = WORDS[n % len(WORDS)], WORDS[n // len(WORDS)]
    summary = f"somebody number{n} finds {one} and {other}"
    return Event(
        f"evt_{n:03}", summary, Pattern(f"{one} {other}", f"case{n}", "joy", "closer"), {}, "So.", "2026-01-01"
    )


@asynccontextmanager
async def opened(folder, url=""):
    async with Database.open(f"sqlite:///{folder / 'soulgraph.db'}") as database:
        stores = Stores(database)
        at = {"folder": folder / "chroma", "url": url}
        async with open_events(stores, WordVectors(), lambda: NOW, **at) as library:
            yield library


async def fill(folder, count, url=""):
    async with opened(folder, url) as library:
        async with library._stores.write() as tx:
            await tx.souls.add(soul())
            await tx.sessions.add(session())
        for n in range(count):
            await library.add(told(n), "sess_1", "soul_1", [], EVERYONE)
        return [one.event_id for one, _ in await library.search(QUESTION, 5)]


@pytest.fixture(scope="module")
def filled(tmp_path_factory, migrated_file):
    """Makes a folder with so many events, once, and gives it with what the question finds there."""

    @cache
    def make(count):
        folder = tmp_path_factory.mktemp("filled")
        shutil.copyfile(migrated_file, folder / "soulgraph.db")
        with ThreadPoolExecutor(1) as thread:
            return folder, thread.submit(asyncio.run, fill(folder, count)).result()

    return make


@pytest.fixture
def library_of(filled, tmp_path):
    """Puts a copy of such a folder here; gives what is found there."""

    def copy(count):
        folder, expected = filled(count)
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        return expected

    return copy


async def outcome(call):
    try:
        return await call
    except MemoryUnavailable as error:
        assert (error.code, error.status) == ("memory_problem", 503)
        return "unavailable"


async def ask_everything(library):
    """What each way to use the library comes to; nothing but MemoryUnavailable may be raised."""
    new = Event("evt_new", "an owl", Pattern("night", "a sound", "awe", "wonder"), {}, "Hoo.", "2026-01-02")
    return [
        await outcome(library.search(QUESTION, 5)),
        await outcome(library.find("evt_001")),
        await outcome(library.page(9)),
        await outcome(library.add(new, "sess_1", "soul_1", [], EVERYONE)),
        await outcome(library.delete("evt_000")),
        await outcome(library._vault.count()),
    ]


async def rebuilt(library, expected):
    """Repair, and find the same as before."""
    *_, done = [state async for state in library.upkeep.repair()]
    assert library.upkeep.problem == ""
    assert [one.event_id for one, _ in await library.search(QUESTION, 5)] == expected
    return done


@pytest.mark.parametrize("name", OF_THE_DATABASE)
async def test_a_damaged_folder_is_one_error_is_told_and_can_be_rebuilt(name, library_of, tmp_path):
    expected = library_of(FEW)
    OF_THE_DATABASE[name](tmp_path / "chroma")
    async with opened(tmp_path) as library:
        await library.upkeep.check()
        assert library.upkeep.problem, "a silent loss is told too"
        await outcome(library.search(QUESTION, 5))
        assert (await library.find_all(["evt_001"])) == [told(1)], "what is asked for by its id needs no Chroma"
        done = await rebuilt(library, expected)
        assert done.put == FEW
        assert done.moved_to is None or done.moved_to.name.startswith("chroma-damaged-")
    async with opened(tmp_path) as library:
        await library.upkeep.check()
        assert library.upkeep.problem == ""


@pytest.mark.parametrize("name", OF_THE_DATABASE)
async def test_damage_under_an_open_library_is_one_error_and_can_be_rebuilt(name, library_of, tmp_path):
    expected = library_of(FEW)
    async with opened(tmp_path) as library:
        await library.search(QUESTION, 5)
        OF_THE_DATABASE[name](tmp_path / "chroma")
        assert "unavailable" in await ask_everything(library)
        assert library.upkeep.problem
        async with library._stores.write() as tx:
            await tx.events.remove(["evt_new"])
        await rebuilt(library, expected)
        assert "unavailable" not in await ask_everything(library)


@pytest.mark.parametrize("name", OF_THE_INDEX)
async def test_a_damaged_index_kills_nobody_and_can_be_rebuilt(name, library_of, tmp_path):
    expected = library_of(MANY)
    OF_THE_INDEX[name](tmp_path / "chroma")
    async with opened(tmp_path) as library:
        await library.upkeep.check()
        assert library.upkeep.problem
        done = await rebuilt(library, expected)
        assert (done.put, done.moved_to.parent) == (MANY, tmp_path)
        assert [*done.moved_to.iterdir()], "nothing is deleted"


async def test_a_healthy_library_is_left_alone(library_of, tmp_path):
    expected = library_of(FEW)
    async with opened(tmp_path) as library:
        done = await rebuilt(library, expected)
        assert (done.put, done.moved_to) == (0, None)
    assert [path.name for path in tmp_path.glob("chroma*")] == ["chroma"]


async def test_an_empty_library_opens_no_folder(tmp_path, migrated_file):
    shutil.copyfile(migrated_file, tmp_path / "soulgraph.db")
    async with opened(tmp_path) as library:
        await library.upkeep.check()
        await library.upkeep.ping()
        assert library.upkeep.problem == ""
    assert not (tmp_path / "chroma").exists()


async def test_events_from_before_are_copied_into_the_database(library_of, tmp_path):
    expected = library_of(FEW)
    async with opened(tmp_path) as library:
        async with library._stores.write() as tx:
            await tx.events.keep({f"evt_{n:03}": None for n in range(FEW)})
            await tx.events.add("evt_lost", NOW)
        await library.upkeep.check()
        assert library.upkeep.problem == ""
        OF_THE_DATABASE["text"](tmp_path / "chroma")
        done = await rebuilt(library, expected)
        assert (done.put, done.lost) == (FEW, 1)


async def test_what_is_deleted_during_a_repair_stays_deleted(library_of, tmp_path):
    library_of(FEW)
    OF_THE_DATABASE["text"](tmp_path / "chroma")
    async with opened(tmp_path) as library:
        embed = library._embedder.embed

        async def meanwhile(texts):
            async with library._stores.write() as tx:
                await tx.events.remove(["evt_002"])
            return await embed(texts)

        library._embedder.embed = meanwhile
        async for _ in library.upkeep.repair():
            pass
        assert await library.find("evt_002") is None
        assert await library._vault.count() == FEW - 1


async def test_a_folder_that_was_refused_is_not_looked_at_in_every_turn(library_of, tmp_path, monkeypatch):
    library_of(FEW)
    monkeypatch.setattr(chroma_client, "RETRY_S", 1000.0)
    tried = []
    monkeypatch.setattr(chroma_client, "damage_in", lambda folder, name: tried.append(folder) or "broken")
    async with opened(tmp_path) as library:
        for _ in range(3):
            assert await outcome(library.search(QUESTION, 5)) == "unavailable"
    assert len(tried) == 1


async def test_a_server_that_has_lost_some_gets_them_again(tmp_path, migrated_file):
    shutil.copyfile(migrated_file, tmp_path / "soulgraph.db")
    with chroma_server(tmp_path / "server") as url:
        expected = await fill(tmp_path, FEW, url)
        async with opened(tmp_path, url) as library:
            await library._vault.delete(["evt_001", "evt_002"])
            await library.upkeep.check()
            assert library.upkeep.problem == "2 events are missing in Chroma"
            assert (await rebuilt(library, expected)).put == 2
            collection = await library._vault._client.collection()
            await library._vault._client._client.delete_collection(collection.name)
            await library.upkeep.ping()
            assert library.upkeep.problem
            assert (await rebuilt(library, expected)).put == FEW


async def test_summaries_are_rebuilt_but_not_those_of_deleted_conversations(tmp_path, sqlite_url):
    async with Database.open(sqlite_url) as database:
        stores = Stores(database)
        async with stores.write() as tx:
            await tx.souls.add(soul())
            await tx.sessions.add(session())
            for name, session_id in (("summary_1", "sess_1"), ("summary_2", "gone")):
                origin = {"soul_id": "soul_1", "session_id": session_id, "user_id": "user_1"}
                data = {"initial_context": f"we spoke of {name}", "extensions": {"summary_of": origin}}
                await tx.backgrounds.add(name, name, data, NOW)
        async with open_summaries(stores, WordVectors(), folder=tmp_path / "chroma") as summaries:
            await summaries.upkeep.check()
            assert summaries.upkeep.problem == "1 summaries are missing in Chroma"
            assert [state.put async for state in summaries.upkeep.repair()][-1] == 1
            [kept] = await summaries.dump(["summary_1", "summary_2"])
            assert (kept.id, kept.metadata["user_id"]) == ("summary_1", "user_1")


async def test_one_repair_at_a_time(library_of, tmp_path):
    library_of(FEW)
    async with opened(tmp_path) as library:
        health = MemoryHealth(library.upkeep)
        running = health.repair()
        await anext(running)
        with pytest.raises(Conflict, match="wait for its end"):
            await anext(health.repair())
        await running.aclose()
        assert [state.name async for state in health.repair()] == ["events"]


async def test_health_is_looked_after_in_the_background(library_of, tmp_path):
    library_of(FEW)
    OF_THE_DATABASE["text"](tmp_path / "chroma")
    async with opened(tmp_path) as library:
        health = MemoryHealth(library.upkeep)
        async with health.watching():
            while not health.problem:
                await asyncio.sleep(0.01)
        assert "event library cannot be used" in health.problem


async def test_a_repair_that_was_broken_off_goes_on_where_it_was(library_of, tmp_path, monkeypatch):
    expected = library_of(FEW)
    monkeypatch.setattr(upkeep, "_AT_ONCE", 1)
    OF_THE_DATABASE["text"](tmp_path / "chroma")
    async with opened(tmp_path) as library:
        running = library.upkeep.repair()
        assert [(await anext(running)).put for _ in range(2)] == [1, 2]
        await running.aclose()
        assert (await rebuilt(library, expected)).put == FEW - 2
    assert len([*tmp_path.glob("chroma-damaged-*")]) == 1


def assert_alike(dumped, expected):
    """Chroma rounds vectors a little."""
    dumped = sorted(dumped, key=lambda one: one.id)
    assert [(one.id, one.document, one.metadata) for one in dumped] == [
        (one.id, one.document, one.metadata) for one in expected
    ]
    assert np.allclose([one.vector for one in dumped], [one.vector for one in expected], atol=1e-5)


async def test_a_backup_is_whole_whatever_chroma_has(library_of, tmp_path):
    library_of(FEW)
    ids = [f"evt_{n:03}" for n in range(FEW)]
    async with opened(tmp_path) as library:
        healthy = await library.dump(ids)
        await library._vault.delete(["evt_001"])
        assert_alike(await library.dump([*ids, "evt_gone"]), healthy)
        OF_THE_DATABASE["text"](tmp_path / "chroma")
        assert_alike(await library.dump(ids), healthy)
        async with library._stores.write() as tx:
            await tx.events.add("evt_old", NOW)
        with pytest.raises(MemoryUnavailable):
            await library.dump([*ids, "evt_old"])
