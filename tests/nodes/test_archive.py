import json

import pytest

from soulgraph.errors import StoreUnavailable
from soulgraph.nodes.archive import MIN_MESSAGES, archive
from soulgraph.nodes.context import Memory
from soulgraph.tests.nodes.homes import OFFLINE, Told, Vault, follow_up, library_on, open_home, open_stub_voice, talk
from soulgraph.tests.nodes.samples import Unused, small_runtime
from soulgraph.tests.stores.samples import message, preference, session, snapshot
from soulgraph.tests.stub_openai import Reply, StubOpenAI

SILENT = Unused("voice")


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        yield stores


async def archived(stores, vault, state, voice=OFFLINE, **ports):
    memory = Memory(events=library_on(vault, stores))
    assert await archive(state, small_runtime(stores=stores, memory=memory, voice=voice, **ports)) == state


async def left(stores):
    async with stores.read() as tx:
        return [message.message_id for message in await tx.messages.page("sess_1") if not message.archived]


async def test_too_few_messages_wait_for_more(home):
    ids = await talk(home, MIN_MESSAGES - 1)
    await archived(home, Vault(), follow_up(ids[-1]), voice=SILENT)
    assert await left(home) == ids


async def test_enough_messages_become_an_event_that_knows_where_it_came_from(home):
    vault, told, ids = Vault(), Told(), await talk(home, MIN_MESSAGES)
    await archived(home, vault, follow_up(ids[-1]), telemetry=told)
    [event] = vault.events()
    assert "whale" in event.summary
    assert await left(home) == []
    async with home.read() as tx:
        [origin] = await tx.events.provenance(event.event_id)
    assert (origin.session_id, origin.message_ids) == ("sess_1", ids)
    [(name, line)] = told.lines
    assert (name, line["event_id"], line["merged"]) == ("event.archived", event.event_id, False)
    assert line["sources"] == [f"episode:{message_id}" for message_id in ids]


async def test_a_turn_that_changed_the_soul_is_archived_however_short_it_was(home):
    vault, ids = Vault(), await talk(home, 2)
    changes = [{"field": "emotions", "change": "proud of the user"}]
    await archived(home, vault, follow_up(ids[-1], archive_now=True, state_changes=changes))
    assert await left(home) == []
    assert vault.events()[0].impact["state_changes"] == changes


async def test_what_was_said_after_the_turn_is_left_to_its_own_job(home):
    ids = await talk(home, MIN_MESSAGES + 2)
    await archived(home, Vault(), follow_up(ids[-3]))
    assert await left(home) == ids[-2:]


class Forgetful(Vault):
    """Keeps the first document, and loses the connection before it can say so."""

    lost = False

    async def put(self, documents, vectors):
        await super().put(documents, vectors)
        if not self.lost:
            self.lost = True
            raise StoreUnavailable("gone")


async def test_after_a_crash_the_event_is_found_again_and_no_model_is_asked(home):
    vault, ids = Forgetful(), await talk(home, MIN_MESSAGES)
    with pytest.raises(StoreUnavailable):
        await archived(home, vault, follow_up(ids[-1]))
    assert await left(home) == ids
    await archived(home, vault, follow_up(ids[-1]), voice=SILENT)
    assert await left(home) == []
    assert len(vault.events()) == 1


async def test_names_of_the_soul_its_characters_and_its_user_are_in_no_event(sqlite_url):
    told = "Luna, Aster, Briar, captain and Robin drank oolong"
    extract = {
        "summary": told,
        "pattern": dict.fromkeys(("precondition", "trigger", "reaction", "impact"), "an evening"),
        "impact": {"state_changes": []},
        "narrative_fragment": told,
    }
    vault = Vault()
    async with (
        open_home(sqlite_url, name="Luna", character_id="one") as home,
        StubOpenAI(Reply(text=json.dumps(extract))) as stub,
        open_stub_voice(stub) as voice,
    ):
        async with home.write() as tx:
            await tx.sessions.delete("sess_1")
            await tx.sessions.add(session(character_snapshot=snapshot(source_preset="two")))
            await tx.characters.put("one", "Aster", {}, 0.0)
            await tx.characters.put("two", "Briar", {}, 0.0)
            await tx.preferences.put(preference("address", value="captain"))
            await tx.preferences.put(preference("tea", value="oolong"))
        ids = await talk(home, 2, "Good evening, my name is Robin")
        await archived(home, vault, follow_up(ids[-1], archive_now=True), voice)
        [asked] = [request.raw.decode() for request in stub.requests]
    assert all(name in asked for name in ("Luna", "Aster", "Briar", "captain", "Robin"))
    someone = "someone, someone, someone, someone and someone drank oolong"
    assert [(event.summary, event.narrative_fragment) for event in vault.events()] == [(someone, someone)]


async def test_small_talk_is_archived_without_an_event_and_without_a_model(home):
    said = [
        "Hello!",
        "Hi there.",
        "How are you?",
        "I am fine.",
        "Thanks for asking!",
        "Sure.",
        "I feel sad.",
        "Oh.",
    ]
    vault, told = Vault(), Told()
    async with home.write() as tx:
        rows = [message(text, role="assistant" if n % 2 else "user") for n, text in enumerate([*said, "Bye!", "Bye."])]
        ids = await tx.messages.append("sess_1", rows)
    await archived(home, vault, follow_up(ids[-1]), voice=SILENT, telemetry=told)
    assert await left(home) == []
    assert vault.events() == []
    [(name, line)] = told.lines
    assert (name, line["kind"], line["reason"]) == ("memory.refused", "event", "small_talk")


async def test_small_talk_that_changed_the_soul_is_an_event(home):
    vault = Vault()
    ids = await talk(home, 2, "Hello!")
    changes = [{"field": "emotions", "change": "lonely → glad"}]
    await archived(home, vault, follow_up(ids[-1], archive_now=True, state_changes=changes))
    assert len(vault.events()) == 1


async def test_an_event_that_says_nothing_is_not_stored(home):
    empty = {
        "names": [],
        "summary": "The user is happy.",
        "pattern": dict.fromkeys(("precondition", "trigger", "reaction", "impact"), "an evening"),
        "narrative_fragment": "They sat together.",
    }
    vault, told, ids = Vault(), Told(), await talk(home, MIN_MESSAGES)
    async with StubOpenAI(Reply(text=json.dumps(empty))) as stub, open_stub_voice(stub) as voice:
        await archived(home, vault, follow_up(ids[-1]), voice, telemetry=told)
    assert (vault.events(), await left(home)) == ([], [])
    assert [name for name, _ in told.lines] == ["memory.refused"]


async def test_without_an_event_library_nothing_happens():
    state = follow_up(99, archive_now=True)
    assert await archive(state, small_runtime()) == state
