import json
from dataclasses import replace

import pytest

from soulgraph.errors import Conflict
from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.reflect import EVERY, reflect
from soulgraph.stores.records import Relation
from soulgraph.tests.nodes.homes import Meanwhile, Told, follow_up, open_home, open_stub_voice, talk
from soulgraph.tests.nodes.samples import Unused, small_runtime
from soulgraph.tests.stores.samples import NOW, session, slot, snapshot
from soulgraph.tests.stub_openai import Reply, StubOpenAI

SLOTS = [{"n": 1, "content": "has seen a whale"}, {"n": 20, "content": "the sea calms them"}]
THOUGHT = Reply(text=json.dumps({"inner_state": "I would like to see a whale.", "slots": SLOTS}))


@pytest.fixture
async def home(sqlite_url):
    """A soul that knows `user_1` and has thought of them before."""
    async with open_home(sqlite_url, inner_state="I am a keeper.") as stores:
        async with stores.write() as tx:
            await tx.relations.ensure(replace(Relation.new("soul_1", "user_1", NOW), inner_state="I wonder."))
        yield stores


@pytest.fixture
async def voice():
    async with StubOpenAI(THOUGHT) as stub, open_stub_voice(stub) as voice:
        yield voice


async def reflected(stores, state, **ports):
    assert await reflect(state, small_runtime(stores=stores, clock=lambda: NOW, **ports)) == state


async def kept(stores):
    """The monologue about the person, the sources of its versions, their slots, and how far is thought about."""
    async with stores.read() as tx:
        sources = [version.source for version in await tx.monologues.all("soul_1", "user_1")]
        slots = {slot.n: slot.content for slot in await tx.slots.of("soul_1", "user_1")}
        relation, session = await tx.relations.get("soul_1", "user_1"), await tx.sessions.get("sess_1")
        assert (await tx.souls.get("soul_1")).inner_state == "I am a keeper."
    return relation.inner_state, sources, slots, session.reflected_to


async def test_too_few_new_messages_are_not_thought_about(home):
    ids = await talk(home, EVERY)
    await reflected(home, follow_up(ids[-2]), voice=Unused("voice"))
    assert await kept(home) == ("I wonder.", [], {}, 0)


async def test_a_static_soul_does_not_reflect(home):
    ids = await talk(home, EVERY)
    await reflected(home, follow_up(ids[-1]), voice=Unused("voice"), persona=PersonaConfig(static=True))
    assert await kept(home) == ("I wonder.", [], {}, 0)


async def test_a_reflection_renews_the_monologue_and_the_slots_and_is_not_repeated(home, voice):
    ids, told = await talk(home, EVERY), Told()
    await reflected(home, follow_up(ids[-1]), voice=voice, telemetry=told)
    renewed = (
        "I would like to see a whale.",
        ["reflection:turn_1", "meeting"],
        {1: "has seen a whale", 20: "the sea calms them"},
        ids[-1],
    )
    assert await kept(home) == renewed
    [(name, line)] = told.lines
    assert (name, line["slots"]) == ("soul.reflected", [1, 20])
    assert line["sources"] == [f"episode:{message_id}" for message_id in ids]
    more = await talk(home, EVERY - 1)
    await reflected(home, follow_up(more[-1]), voice=Unused("voice"))
    assert await kept(home) == renewed


@pytest.mark.parametrize(
    ("thought", "reason"),
    [
        ("I wonder.", "unchanged"),
        ("I saw a whale, number 2. I saw a whale, number 4.", "copied"),
        ("You are patient and kind.", "copied"),
    ],
)
async def test_a_monologue_that_is_no_thought_leaves_the_old_one_and_is_not_asked_for_again(home, thought, reason):
    told = Told()
    async with home.write() as tx:
        await tx.sessions.delete("sess_1")
        await tx.sessions.add(session(character_snapshot=snapshot(base_persona="You are patient and kind.")))
    ids = await talk(home, EVERY)
    answer = Reply(text=json.dumps({"inner_state": thought, "slots": []}))
    async with StubOpenAI(answer) as stub, open_stub_voice(stub) as voice:
        await reflected(home, follow_up(ids[-1]), voice=voice, telemetry=told)
    assert await kept(home) == ("I wonder.", [], {}, ids[-1])
    refused, done = told.lines
    assert refused[0] == "memory.refused"
    assert {key: refused[1][key] for key in ("kind", "reason")} == {"kind": "monologue", "reason": reason}
    assert (done[0], done[1]["slots"]) == ("soul.reflected", [])


async def test_slots_that_are_not_worth_keeping_are_refused_each_with_its_reason(home):
    junk = ["The user lives in Oslo.", "The user is happy.", "likes tea", "They saw a whale", "The user saw a whale."]
    async with home.write() as tx:
        await tx.slots.put(slot(0, "The user likes tea."))
    thought = {
        "inner_state": "Whales again. I grow fond of these stories.",
        "slots": [{"n": n, "content": content} for n, content in enumerate(junk, 1)],
    }
    ids, told = await talk(home, EVERY), Told()
    async with StubOpenAI(Reply(text=json.dumps(thought))) as stub, open_stub_voice(stub) as voice:
        await reflected(home, follow_up(ids[-1]), voice=voice, telemetry=told)
    assert (await kept(home))[2] == {0: "The user likes tea.", 4: "They saw a whale"}
    assert [line["reason"] for name, line in told.lines if name == "memory.refused"] == [
        "not_said",
        "small_talk",
        "known_already",
        "known_already",
    ]
    assert not any("Oslo" in str(line) for _, line in told.lines), "what was refused is not quoted"


async def test_a_soul_that_thought_of_something_else_meanwhile_thinks_again(home, voice):
    async def another_conversation():
        async with home.write() as tx:
            await tx.monologues.think("soul_1", "I am tired.", "reflection:turn_2", NOW, "user_1")

    ids, told = await talk(home, EVERY), Told()
    with pytest.raises(Conflict, match="think again"):
        await reflected(home, follow_up(ids[-1]), voice=voice, telemetry=told, budget=Meanwhile(another_conversation))
    assert await kept(home) == ("I am tired.", ["reflection:turn_2", "meeting"], {}, 0)
    assert told.lines == []


@pytest.mark.parametrize("before", [{}, {1: "old"}])
async def test_a_slot_that_changed_meanwhile_is_not_overwritten_and_the_others_are_kept(home, voice, before):
    async def the_user_writes():
        async with home.write() as tx:
            await tx.slots.put(slot(1, "mine"))

    async with home.write() as tx:
        for n, content in before.items():
            await tx.slots.put(slot(n, content))
    ids, told = await talk(home, EVERY), Told()
    await reflected(home, follow_up(ids[-1]), voice=voice, telemetry=told, budget=Meanwhile(the_user_writes))
    _, _, slots, _ = await kept(home)
    assert slots == {1: "mine", 20: "the sea calms them"}
    assert told.lines[0][1]["slots"] == [20]


async def test_a_slot_that_was_deleted_meanwhile_stays_deleted(home, voice):
    async def the_user_forgets():
        async with home.write() as tx:
            await tx.slots.delete("soul_1", "user_1", 1)

    async with home.write() as tx:
        await tx.slots.put(slot(1, "old"))
    ids = await talk(home, EVERY)
    await reflected(home, follow_up(ids[-1]), voice=voice, budget=Meanwhile(the_user_forgets))
    _, _, slots, _ = await kept(home)
    assert slots == {20: "the sea calms them"}


async def test_a_session_that_is_gone_is_not_thought_about(home):
    ids = await talk(home, EVERY)
    async with home.write() as tx:
        await tx.sessions.delete("sess_1")
    await reflected(home, follow_up(ids[-1]), voice=Unused("voice"))
    async with home.read() as tx:
        assert (await tx.relations.get("soul_1", "user_1")).inner_state == "I wonder."
