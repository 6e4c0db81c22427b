"""The event library on the embedded Chroma and on a server: duplicates, search, provenance and removal."""

import asyncio
from dataclasses import replace
from functools import partial

import pytest

from soulgraph.errors import ConfigurationError, NotFound, StoreUnavailable
from soulgraph.memory.chroma import collection_name, open_embedded
from soulgraph.memory.events import Event, EventLibrary, Pattern, audience_of, open_events
from soulgraph.soul.people import EVERYONE
from soulgraph.stores.database import Database
from soulgraph.stores.events import EventCatalogue
from soulgraph.stores.stores import Stores
from soulgraph.tests.forks import FORKS
from soulgraph.tests.memory.chroma import chroma_server, keep_in_old_collection
from soulgraph.tests.memory.words_as_vectors import WordVectors
from soulgraph.tests.stores.samples import NOW, session, soul


def event(event_id="evt_1", summary="a distrustful stranger is shown proof and becomes an ally"):
    pattern = Pattern("一个不信任的角色", "对方出示证据", "contempt turns into shock", "closer")
    changes = {"state_changes": [{"field": "relationships", "before": "Stranger", "after": "Ally"}]}
    return Event(event_id, summary, pattern, changes, "He stared at the paper…", "2026-01-01T00:00:00Z")


OTHER = replace(
    event("evt_2", "grandmother teaches a child to bake bread in winter"),
    pattern=Pattern("a quiet kitchen", "flour on the table", "joy", "warmth"),
)


@pytest.fixture
async def home(sqlite_url):
    async with Database.open(sqlite_url) as database:
        stores = Stores(database)
        async with stores.write() as tx:
            await tx.souls.add(soul())
            await tx.sessions.add(session())
            await tx.sessions.add(session("sess_2"))
        yield stores


@pytest.fixture
async def library(home, chroma_url, tmp_path):
    # On a server the tests share one database, so each has a model, and so a collection, of its own.
    embedder = WordVectors(str(tmp_path))
    async with open_events(home, embedder, lambda: NOW, folder=tmp_path / "chroma", url=chroma_url) as library:
        yield library


async def add(library, event, session_id="sess_1", audience=EVERYONE):
    return await library.add(event, session_id, "soul_1", [1, 2], audience)


async def test_an_event_is_kept_as_it_is(library):
    assert await add(library, event()) == "evt_1"
    assert await library.get("evt_1") == event()
    with pytest.raises(NotFound):
        await library.get("evt_2")


async def test_an_event_is_found_by_what_it_is_about_and_by_nothing_else(library):
    await add(library, event())
    await add(library, OTHER)
    [(found, use)] = await library.search("a stranger shows proof to a distrustful ally", 3)
    assert (found, use.event_id) == (event(), "evt_1")
    assert await library.search("submarine engines", 3) == []


async def test_events_are_listed_with_the_newest_first(library, home):
    await add(library, event())
    library._clock = lambda: NOW + 1
    await add(library, OTHER)
    assert [one.event_id for one, _ in await library.page(9)] == ["evt_2", "evt_1"]
    assert [one.event_id for one, _ in await library.page(9, 1)] == ["evt_1"]


async def test_almost_the_same_event_is_kept_once(library, home):
    await add(library, event())
    assert await add(library, event("evt_9"), "sess_2") == "evt_1"
    [(_, use)] = await library.page(9)
    assert use.merged == 1
    async with home.read() as tx:
        assert [one.session_id for one in await tx.events.provenance("evt_1")] == ["sess_1", "sess_2"]


async def test_adding_an_event_again_after_a_failure_changes_nothing(library):
    await add(library, event())
    await add(library, event())
    [(_, use)] = await library.page(9)
    assert use.merged == 0


async def test_an_event_can_be_deleted(library):
    await add(library, event())
    await library.delete("evt_1")
    assert await library.page(9) == await library.search("stranger proof ally", 3) == []
    with pytest.raises(NotFound):
        await library.delete("evt_1")


async def test_forgetting_a_session_takes_what_only_it_has_shown(library, home):
    await add(library, event())
    await add(library, event("evt_9"), "sess_2")
    await add(library, OTHER)
    assert await library.forget_session("sess_1") == ["evt_2"]
    assert [one.event_id for one, _ in await library.page(9)] == ["evt_1"]
    assert await library.forget_session("sess_2") == ["evt_1"]
    assert await library.page(9) == []


async def test_tidying_keeps_the_most_recalled(library, home):
    await add(library, event())
    await add(library, OTHER)
    async with home.write() as tx:
        await tx.events.recalled(["evt_2"], NOW)
    assert await library.tidy(2) == []
    assert await library.tidy(1) == ["evt_1"]
    assert [one.event_id for one, _ in await library.page(9)] == ["evt_2"]


ANN = audience_of("soul_1", ["ann"])
BO = audience_of("soul_1", ["bo"])
OTHERS_ANN = audience_of("soul_2", ["ann"])
BOTH = audience_of("soul_1", ["bo", "ann"])


async def found_by(library, *audiences):
    ranked = await library.ranked(event().search_text, 9, audiences=audiences)
    paged = await library.page(9, audiences=audiences)
    assert {one.event_id for one, _, _ in ranked} == {one.event_id for one, _ in paged}
    return {one.event_id for one, _ in paged}


def test_an_audience_is_a_soul_and_people_in_any_order():
    assert audience_of("soul_1", ("ann", "bo", "ann")) == BOTH
    assert len({ANN, BO, OTHERS_ANN, BOTH, EVERYONE}) == 5


async def test_two_souls_and_two_people_do_not_see_each_others_private_events(library):
    private = {ANN: "evt_a", BO: "evt_b", OTHERS_ANN: "evt_c", BOTH: "evt_d"}
    for audience, event_id in private.items():
        assert await add(library, event(event_id), audience=audience) == event_id
    assert await add(library, event("evt_all")) == "evt_all"
    for audience, event_id in private.items():
        assert await found_by(library, EVERYONE, audience) == {event_id, "evt_all"}
        assert await found_by(library, audience) == {event_id}
    assert await found_by(library, EVERYONE) == {"evt_all"}
    assert len(await library.page(9)) == len(await library.search(event().search_text, 9)) == 5


async def test_a_private_event_is_merged_into_one_for_everyone_and_never_the_other_way(library):
    await add(library, event("evt_ann"), audience=ANN)
    assert await add(library, event("evt_all")) == "evt_all"
    assert await add(library, event("evt_bo"), audience=BO) == "evt_all"
    assert await add(library, event("evt_ann_2"), audience=ANN) in ("evt_ann", "evt_all")
    assert await found_by(library, EVERYONE, BO) == {"evt_all"}


async def test_an_event_that_is_added_again_has_the_last_audience(library):
    await add(library, event(), audience=EVERYONE)
    await add(library, event(), audience=ANN)
    assert await found_by(library, EVERYONE) == set()
    assert await found_by(library, ANN) == {"evt_1"}


async def forget_audiences(library, home, *event_ids):
    """As events were stored before they had an audience."""
    collection = await library._vault._client.collection()
    for event_id in event_ids:
        await library._vault._client.call(partial(collection.delete, ids=[event_id]))
        vector = (await library._embedder.embed([event().search_text]))[0]
        await library._vault.put({event_id: replace(event(), event_id=event_id).to_json()}, vector[None])
        async with home.write() as tx:
            await tx.events.admit(event_id, None)


async def test_events_from_before_become_private_to_whom_they_came_from(library, home):
    await add(library, event())
    await add(library, OTHER)
    await forget_audiences(library, home, "evt_1", "evt_2")
    async with home.write() as tx:
        await tx.events.remove(["evt_2"])
        await tx.events.add("evt_2", NOW, None)
    library._entries._all_tagged = False
    assert await found_by(library, EVERYONE) == set()
    assert await found_by(library, audience_of("soul_1", ["user_1"])) == {"evt_1"}
    assert {use.event_id: use.audience for _, use in await library.page(9)} == {
        "evt_1": audience_of("soul_1", ["user_1"]),
        "evt_2": audience_of("", []),
    }


async def test_tagging_goes_on_after_a_crash(library, home, monkeypatch):
    await add(library, event())
    await forget_audiences(library, home, "evt_1")
    library._entries._all_tagged = False

    async def crash(*_):
        raise StoreUnavailable("gone")

    with monkeypatch.context() as broken, pytest.raises(StoreUnavailable):
        broken.setattr(EventCatalogue, "admit", crash)
        await library.page(9)
    assert await found_by(library, audience_of("soul_1", ["user_1"])) == {"evt_1"}


async def test_what_is_in_the_folder_is_there_again_after_a_restart(home, tmp_path):
    for expected in ([], ["evt_1"]):
        async with open_events(home, WordVectors(), lambda: NOW, folder=tmp_path / "chroma") as library:
            assert [one.event_id for one, _ in await library.page(9)] == expected
            await add(library, event())


async def test_models_do_not_share_events(home, tmp_path):
    async with open_events(home, WordVectors("one"), lambda: NOW, folder=tmp_path / "chroma") as library:
        await add(library, event())
    async with open_events(home, WordVectors("two"), lambda: NOW, folder=tmp_path / "chroma") as library:
        assert await library.search(event().search_text, 3) == []


def test_every_model_has_a_collection_with_a_valid_name():
    names = [collection_name(model) for model in ("", "a/b", "a.b", "x" * 500, "模型")]
    assert len(set(names)) == len(names)
    assert all(3 <= len(name) <= 63 and name.isascii() for name in names)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "127.0.0.1:8000"])
async def test_a_server_that_is_not_there_names_the_setting(home, url, tmp_path):
    with pytest.raises(ConfigurationError, match="SOULGRAPH_CHROMA_URL"):
        async with open_events(home, WordVectors(), lambda: NOW, folder=tmp_path, url=url):
            pass


async def test_a_server_that_goes_away_is_unavailable(home, tmp_path):
    with chroma_server(tmp_path) as url:
        opened = open_events(home, WordVectors(), lambda: NOW, folder=tmp_path, url=url)
        library: EventLibrary = await opened.__aenter__()
        await add(library, event())
    with pytest.raises(StoreUnavailable, match="event library"):
        await library.search("stranger", 3)
    await opened.__aexit__(None, None, None)


async def test_what_is_nearest_and_others_alone_may_recall_hides_nothing(library):
    """So many private ones are nearer that none for everyone is among the first that are looked through."""
    for n in range(60):
        await add(library, replace(OTHER, event_id=f"evt_{n}", summary="bread"), audience=f"soul_{n}\nbob")
    await add(library, replace(OTHER, event_id="evt_open"))
    found = await library.search("bread kitchen flour", 3, audiences=(EVERYONE, "soul_1\nann"))
    assert [found_event.event_id for found_event, _ in found] == ["evt_open"]
    mine = await library.search("bread kitchen flour", 3, audiences=(EVERYONE, "soul_7\nbob"))
    assert mine[0][0].event_id == "evt_7"


async def test_a_library_from_before_is_given_the_same_upkeep(tmp_path):
    """With Chroma's own default a document that is put reads up to a thousand others that wait for the index."""
    process = FORKS.Process(target=keep_in_old_collection, args=(tmp_path,))  # whose end closes it for certain
    process.start()
    await asyncio.to_thread(process.join)
    async with open_embedded(tmp_path, "events-old") as vault:
        assert await vault.get(["evt_1"]) == {"evt_1": "kept"}
        assert (await vault._client.collection()).configuration_json["hnsw"]["sync_threshold"] == 100


async def test_an_event_of_a_session_that_was_deleted_meanwhile_is_not_kept(library, home):
    async with home.write() as tx:
        await tx.sessions.delete("sess_2")
    with pytest.raises(NotFound, match="no session 'sess_2'"):
        await library.add(event(), "sess_2", "soul_1", [], EVERYONE)
    assert await library.page(10) == []
