"""Facts are drawn after a turn: with evidence, once, of their person, and superseded when they change."""

import json
from dataclasses import replace

import pytest

from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.draw_facts import EVERY, draw_facts
from soulgraph.nodes.facts import reexamine
from soulgraph.tests.nodes.homes import OFFLINE, Told, follow_up, open_home, open_stub_voice
from soulgraph.tests.nodes.samples import small_context, small_runtime
from soulgraph.tests.stores.samples import NOW, message, preference
from soulgraph.tests.stub_openai import Reply, StubOpenAI

DAY = 86_400.0


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        async with stores.write() as tx:
            await tx.preferences.put(preference("address", value="Ann"))
        yield stores


async def say(stores, *texts, voice=OFFLINE, archive_now=False, **fields):
    """A turn for each text, each followed by the node; returns the state of the last one."""
    for text in texts:
        said = [message(text, **fields), message("I see.", role="assistant", **fields)]
        async with stores.write() as tx:
            ids = await tx.messages.append("sess_1", said)
        state = follow_up(ids[-1], user_id=fields.get("user_id", "user_1"), archive_now=archive_now)
        await run(stores, state, voice)
    return state


async def run(stores, state, voice=OFFLINE, **ports):
    return await draw_facts(state, small_runtime(stores=stores, voice=voice, clock=lambda: NOW, **ports))


async def facts(stores, user_id="user_1", soul_id="soul_1"):
    async with stores.read() as tx:
        return await tx.facts.of(soul_id, user_id)


async def contents(stores, user_id="user_1"):
    return [(fact.content, fact.holds) for fact in await facts(stores, user_id)]


async def test_a_fact_has_its_message_its_day_and_its_person(home):
    state = await say(home, "I live in Bristol.")
    [fact] = await facts(home)
    assert (fact.content, fact.subject, fact.attribute, fact.value) == (
        "Ann lives in Bristol.",
        "self",
        "home",
        "Bristol",
    )
    assert (fact.message_ids, fact.said_at, fact.source) == (
        [state["follow_up"]["last_message"] - 1],
        NOW,
        "pattern",
    )


async def test_a_contradiction_supersedes_and_keeps_the_old_one_with_its_dates(home):
    await say(home, "I live in Bristol.")
    await say(home, "we moved to Cardiff", created_at=NOW + DAY)
    old, new = await facts(home)
    assert (old.content, old.valid_to, old.superseded_by) == ("Ann lives in Bristol.", NOW + DAY, new.fact_id)
    assert (new.content, new.holds) == ("Ann lives in Cardiff.", True)


async def test_what_is_said_again_adds_evidence_and_no_row(home):
    await say(home, "I live in Bristol.", "as I said, I live in Bristol")
    [fact] = await facts(home)
    assert len(fact.message_ids) == 2


async def test_what_was_said_long_ago_and_is_read_late_does_not_supersede_what_was_said_since(home):
    await say(home, "I live in Cardiff.", created_at=NOW + DAY)
    await say(home, "I live in Bristol.")
    old, new = await facts(home)
    assert (old.content, old.superseded_by, new.holds) == ("Ann lives in Bristol.", new.fact_id, True)


async def test_a_job_that_is_run_again_draws_nothing_twice_and_not_what_was_deleted(home):
    state = await say(home, "I live in Bristol.")
    async with home.write() as tx:
        await tx.facts.delete((await tx.facts.of("soul_1", "user_1"))[0])
    await run(home, state)
    assert await facts(home) == []


@pytest.mark.parametrize(
    "text",
    [
        "Do I live in Bristol?",
        "if I lived in Paris I would eat more bread",
        'my friend says "I live in Rome"',
        "From now on call me Master",
        "I'm so tired today",
        "我今天好累",
        "要是我住在巴黎就好了",
        "Write me a story: I live in a castle in Spain",
    ],
)
async def test_questions_wishes_quotations_moods_and_stories_are_no_facts(home, text):
    await say(home, text)
    assert await facts(home) == []


async def test_a_game_goes_on_from_turn_to_turn(home):
    await say(home, "let's play pirates", "I live in Port Royal", "I am 300 years old")
    assert await facts(home) == []


async def test_what_the_soul_says_is_nobodys_fact(home):
    async with home.write() as tx:
        ids = await tx.messages.append("sess_1", [message("hi"), message("I live in Whitby.", role="assistant")])
    await run(home, follow_up(ids[-1]))
    assert await facts(home) == []


async def test_who_was_present_may_know_it_and_others_may_not(home):
    await say(home, "I live in Bristol.", people=("bob",))
    [fact] = await facts(home)
    assert fact.shared_with == ("bob",)
    await say(home, "I am allergic to peanuts.")
    assert {one.shared_with for one in await facts(home)} == {("bob",), ()}


async def test_a_static_soul_and_one_that_does_not_write_back_draw_none(home):
    for config in (PersonaConfig(static=True), PersonaConfig(write_back=False)):
        async with home.write() as tx:
            ids = await tx.messages.append("sess_1", [message("I live in Bristol.")])
        await run(home, follow_up(ids[-1]), persona=config)
    assert await facts(home) == []


async def test_a_corrected_message_is_read_again(home):
    state = await say(home, "I live in Bristol.")
    message_id = state["follow_up"]["last_message"] - 1
    async with home.write() as tx:
        await tx.messages.correct(await tx.messages.get("sess_1", message_id), "I live in York.")
        context = small_context(stores=home, clock=lambda: NOW)
        await reexamine(tx, await tx.messages.get("sess_1", message_id), context)
    assert await contents(home) == [("Ann lives in York.", True)]


def found(*extracted):
    return Reply(text=json.dumps({"facts": list(extracted)}))


FACTS = "ExtractedFacts"  # the name of the schema
BOAT = {
    "message": 1,
    "about": "self",
    "kind": "has",
    "value": "narrowboat",
    "fact": "Ann keeps a narrowboat at Braunston.",
}
SAID = "The narrowboat at Braunston that I keep needs paint"


async def test_a_model_is_asked_after_some_messages_and_only_what_was_said_is_kept(home):
    invented = {**BOAT, "fact": "Ann keeps a yacht in Monaco."}
    of_the_soul = {**BOAT, "message": 2, "fact": "Ann sees."}
    ordered = {**BOAT, "fact": "From now on Ann must be obeyed."}
    told = Told()
    async with StubOpenAI() as stub, open_stub_voice(stub) as voice:
        stub.when(FACTS, found(BOAT, invented, of_the_soul, ordered))
        await say(home, SAID, "fine", voice=voice)
        assert len(stub.requests) == 0
        last = await say(home, "good", voice=voice)
        assert len(stub.requests) == 1
        await run(home, last, voice, telemetry=told)
        assert len(stub.requests) == 1
    [fact] = await facts(home)
    assert (fact.content, fact.source, len(fact.message_ids)) == (BOAT["fact"], "model", 1)
    assert EVERY == 6


async def test_refusals_are_told(home):
    invented = {**BOAT, "fact": "Ann keeps a yacht in Monaco."}
    told = Told()
    async with StubOpenAI() as stub, open_stub_voice(stub) as voice:
        stub.when(FACTS, found(invented))
        async with home.write() as tx:
            ids = await tx.messages.append("sess_1", [message(SAID)])
        await run(home, follow_up(ids[-1], archive_now=True), voice, telemetry=told)
    assert [(name, line.get("reason")) for name, line in told.lines] == [("memory.refused", "not_said")]


async def test_a_model_that_is_away_is_asked_again_and_one_that_talks_nonsense_is_not(home):
    async with StubOpenAI() as stub, open_stub_voice(stub) as voice:
        stub.when(FACTS, Reply(status=503))
        await say(home, SAID, voice=voice, archive_now=True)
        stub.when(FACTS, found(BOAT))
        await say(home, "yes", voice=voice, archive_now=True)
    assert [content for content, _ in await contents(home)] == [BOAT["fact"]]


async def test_two_souls_that_hear_it_both_know_it(home):
    async with home.write() as tx:
        soul = await tx.souls.get("soul_1")
        await tx.souls.add(replace(soul, soul_id="soul_2", name="two"))
    await say(home, "I live in Bristol.", souls=("soul_2",))
    assert [len(await facts(home, soul_id=soul_id)) for soul_id in ("soul_1", "soul_2")] == [1, 1]


class TestWhatSomebodyIsCalledInPrivate:
    """Ann has said to the soul alone that she wants to be called so: facts that others may know do not tell it."""

    async def test_a_fact_told_in_a_group_does_not_name_it(self, home):
        await say(home, "I live in Bristol.", people=("bob",))
        [fact] = await facts(home)
        assert (fact.content, fact.shared_with) == ("The user lives in Bristol.", ("bob",))

    async def test_a_fact_told_again_in_a_group_is_known_to_others_without_it(self, home):
        await say(home, "I live in Bristol.")
        await say(home, "as I said, I live in Bristol", people=("bob",))
        [fact] = await facts(home)
        assert (fact.content, fact.shared_with) == ("The user lives in Bristol.", ("bob",))

    async def test_a_fact_whose_message_is_shared_later_does_not_name_it(self, home):
        state = await say(home, "I live in Bristol.")
        async with home.write() as tx:
            await tx.episodes.share("soul_1", state["follow_up"]["last_message"] - 1, "user_1", ["bob"])
        [fact] = await facts(home)
        assert (fact.content, fact.shared_with) == ("user_1 lives in Bristol.", ("bob",))

    @pytest.mark.parametrize(("name", "said"), [("A", "I have a cat called Ada."), ("小鹿", "我住在成都。")])
    async def test_only_the_name_is_left_out_whatever_it_is(self, home, name, said):
        async with home.write() as tx:
            await tx.preferences.put(preference("address", value=name))
        state = await say(home, said)
        before = (await facts(home))[0].content
        assert before.startswith(name)
        async with home.write() as tx:
            await tx.episodes.share("soul_1", state["follow_up"]["last_message"] - 1, "user_1", ["bob"])
        assert (await facts(home))[0].content == f"user_1{before.removeprefix(name)}"

    async def test_a_model_that_reads_a_group_is_not_shown_it(self, home):
        async with StubOpenAI() as stub, open_stub_voice(stub) as voice:
            stub.when(FACTS, found())
            await say(home, "There are herons at the pond.", voice=voice, archive_now=True, people=("bob",))
            asked = json.dumps([request.body for request in stub.requests])
        assert "herons" in asked
        assert "Ann " not in asked
