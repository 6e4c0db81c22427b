import json

import pytest

from soulgraph.errors import StoreUnavailable
from soulgraph.library.persona_config import PersonaConfig
from soulgraph.memory.events import audience_of
from soulgraph.nodes.archive import MIN_MESSAGES, archive
from soulgraph.nodes.context import Memory
from soulgraph.soul.people import EVERYONE
from soulgraph.tests.nodes.homes import OFFLINE, Told, Vault, follow_up, library_on, open_home, open_stub_voice, talk
from soulgraph.tests.nodes.samples import Unused, small_runtime
from soulgraph.tests.stores.samples import message, preference, session, snapshot, soul
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
    assert "animal" in event.summary
    assert await left(home) == []
    async with home.read() as tx:
        [origin] = await tx.events.provenance(event.event_id)
    assert (origin.session_id, origin.message_ids) == ("sess_1", ids)
    [(name, line)] = told.lines
    assert (name, line["event_id"], line["merged"]) == ("event.archived", event.event_id, False)
    assert (line["audience"], line["reason"], vault.audiences) == ("everyone", None, {event.event_id: EVERYONE})
    assert line["sources"] == [f"episode:{message_id}" for message_id in ids]


async def test_a_turn_that_changed_the_soul_is_archived_however_short_it_was(home):
    vault, ids = Vault(), await talk(home, 2)
    changes = [{"field": "emotions", "before": "", "after": "proud of the user"}]
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

    async def put(self, documents, vectors, owner):
        await super().put(documents, vectors, owner)
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
    changes = [{"field": "emotions", "change": "lonely → glad"}]  # as jobs of before have it
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


def extract(summary, fragment="They sat together."):
    pattern = dict.fromkeys(("precondition", "trigger", "reaction", "impact"), "an evening")
    return Reply(text=json.dumps({"names": [], "summary": summary, "pattern": pattern, "narrative_fragment": fragment}))


async def archived_as(home, reply, said, vault, follow=None, **ports):
    """Archives what was said and answered in turn, with a model that gives this event."""
    told = Told()
    async with home.write() as tx:
        rows = [message(text, role="assistant" if n % 2 else "user") for n, text in enumerate(said)]
        ids = await tx.messages.append("sess_1", rows)
    async with StubOpenAI(reply) as stub, open_stub_voice(stub) as voice:
        state = follow_up(ids[-1], archive_now=True, **(follow or {}))
        await archived(home, vault, state, voice, telemetry=told, **ports)
    return told.lines[-1][1]


PRIVATE = audience_of("soul_1", ["user_1"])


@pytest.mark.parametrize(
    ("said", "event", "reason"),
    [
        (["I breed axolotls"], extract("People who love axolotls hide them."), "rare"),
        (["My code is easy"], extract("Nine four is easy to keep."), "number"),
        (["My parcel is lost", "Perhaps the axolotl took it"], extract("An axolotl can be a comfort."), "rare"),
        (["I always sleep with the light on"], extract("Fear.", "They always sleep with the light on."), "run"),
        (["跟秀英吵架了"], extract("和秀英相处要忍让。"), "name"),
    ],
)
async def test_an_event_that_gives_somebody_away_is_private_and_told_why(home, said, event, reason):
    vault = Vault()
    line = await archived_as(home, event, [*said, "ok"], vault)
    assert (line["audience"], line["reason"]) == ("private", reason)
    assert vault.audiences == {line["event_id"]: PRIVATE}
    async with home.read() as tx:
        [use] = await tx.events.page(9)
    assert use.audience == PRIVATE
    assert not any(text in str(line) for text in said)


async def test_an_event_whose_names_were_replaced_is_for_everyone(home):
    vault = Vault()
    line = await archived_as(home, extract("借钱容易伤感情，阿强就是例子。"), ["阿强借了我的钱", "嗯"], vault)
    assert (line["audience"], line["reason"]) == ("everyone", None)
    assert vault.events()[0].summary == "借钱容易伤感情，某人就是例子。"


async def test_what_the_soul_answered_and_what_others_are_called_is_kept_private_too(home):
    async with home.write() as tx:
        await tx.preferences.put(preference("address", user_id="user_2", value="Captain Nemo"))
        await tx.relations.lock("soul_1", "ophelia", 0.0)
    for name in ("Nemo", "Ophelia"):
        line = await archived_as(home, extract(f"Talking like {name} helps."), ["It was a hard day", "I see"], Vault())
        assert (line["audience"], line["reason"]) == ("private", "name")


async def test_the_model_is_not_told_what_people_are_called_who_were_not_there(home):
    async with home.write() as tx:
        await tx.preferences.put(preference("address", user_id="user_2", value="Captain Nemo"))
    ids = await talk(home, 2, "It was a hard day at work")
    async with StubOpenAI(extract("A hard day passes.")) as stub, open_stub_voice(stub) as voice:
        await archived(home, Vault(), follow_up(ids[-1], archive_now=True), voice)
        assert "Nemo" not in stub.requests[0].raw.decode()


async def test_changes_that_quote_somebody_are_left_out_of_an_event_for_everyone(home):
    changes = [
        {"field": "emotions", "before": "", "after": "worried about the axolotls"},
        {"field": "emotions", "before": "proud, priority 5", "after": "proud, priority 8"},
    ]
    vault = Vault()
    said = ["My axolotls are all that I have", "ok"]
    line = await archived_as(home, extract("Caring for animals helps."), said, vault, {"state_changes": changes})
    assert line["audience"] == "everyone"
    assert vault.events()[0].impact == {"state_changes": changes[1:]}


async def test_an_event_can_be_kept_from_all_others_by_a_setting(home):
    vault = Vault()
    persona = PersonaConfig(events="soul")
    line = await archived_as(home, extract("A hard day passes."), ["Work was hard", "ok"], vault, persona=persona)
    assert (line["audience"], line["reason"]) == ("private", "setting")
    assert [*vault.audiences.values()] == [PRIVATE]


async def test_without_events_messages_are_archived_and_no_model_is_asked(home):
    vault, told, ids = Vault(), Told(), await talk(home, MIN_MESSAGES)
    persona = PersonaConfig(events="off")
    await archived(home, vault, follow_up(ids[-1]), voice=SILENT, telemetry=told, persona=persona)
    assert (await left(home), vault.events()) == ([], [])
    assert [line["reason"] for _, line in told.lines] == ["switched_off"]


async def test_an_event_of_a_group_is_for_those_who_heard_all_of_it(sqlite_url):
    """Bo joined later, and the other soul has heard some of it alone."""
    vault = Vault()
    async with open_home(sqlite_url) as home:
        async with home.write() as tx:
            await tx.souls.add(soul("soul_2"))
            await tx.sessions.delete("sess_1")
            await tx.sessions.add(session(people=("bo",), souls={"soul_2": snapshot()}))
            rows = [
                message("I breed axolotls"),
                message("My axolotls are well", people=("bo",)),
                message("for the other alone", soul_id="soul_2", people=("bo",)),
            ]
            ids = await tx.messages.append("sess_1", rows)
        async with StubOpenAI(extract("Axolotls comfort people.")) as stub, open_stub_voice(stub) as voice:
            await archived(home, vault, follow_up(ids[-1], archive_now=True), voice)
        assert await left(home) == ids[-1:]
    assert [*vault.audiences.values()] == [PRIVATE, audience_of("soul_1", ["user_1", "bo"])]


async def test_without_an_event_library_nothing_happens():
    state = follow_up(99, archive_now=True)
    assert await archive(state, small_runtime()) == state
