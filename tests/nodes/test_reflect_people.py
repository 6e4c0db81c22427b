"""Reflection by person: what it writes is theirs, and what a soul thinks of itself takes nothing from anybody."""

import asyncio
import json
from dataclasses import replace

import pytest

from soulgraph.errors import Conflict
from soulgraph.nodes.context import Memory
from soulgraph.nodes.quality import is_about_itself
from soulgraph.nodes.reflect import EVERY, reflect
from soulgraph.stores.records import Relation
from soulgraph.stores.workspace import Workspaces
from soulgraph.tests.nodes.ann_and_bob import ANN, ANNS, BOB, BOBS, GROUP, anns, called, group, open_house, told
from soulgraph.tests.nodes.homes import Meanwhile, Told, follow_up, open_stub_voice
from soulgraph.tests.nodes.samples import small_runtime
from soulgraph.tests.stores.samples import NOW, slot, snapshot, soul
from soulgraph.tests.stub_openai import Reply, StubOpenAI

OWN = "I am Mika. I keep a light."
GROWN = "I am Mika. I have learned to be patient with storms."
TALK = [f"I saw the whale again, it was day {n} of our journey" for n in range(EVERY // 2)]


@pytest.fixture
async def house(sqlite_url):
    async with open_house(sqlite_url, inner_state=OWN) as stores:
        yield stores


def thought(**fields):
    values = {"inner_state": "I would love to go along one day.", "slots": [], "about_itself": "", "bond": ""}
    return Reply(text=json.dumps(values | fields))


async def reflected(stores, session_id, last, user_id=ANN, answer=None, told=None, soul_id="soul_1", **ports):
    """What the model was asked."""
    state = follow_up(last, session_id=session_id, user_id=user_id, soul_id=soul_id)
    ports = {"stores": stores, "clock": lambda: NOW, "telemetry": told or Told(), **ports}
    async with StubOpenAI(answer or thought()) as stub, open_stub_voice(stub) as voice:
        assert await reflect(state, small_runtime(voice=voice, **ports)) == state
        return "\n".join(one.body["messages"][0]["content"] for one in stub.requests)


async def kept(stores, user_id):
    """What the soul thinks of the person, what they are to each other, and the person's slots."""
    async with stores.read() as tx:
        relation = await tx.relations.find("soul_1", user_id)
        slots = {one.n: (one.content, one.shared_with) for one in await tx.slots.of("soul_1", user_id)}
    return (relation.inner_state, relation.bond) if relation else None, slots


async def own_monologue(stores):
    async with stores.read() as tx:
        return (await tx.souls.get("soul_1")).inner_state


async def know(stores, user_id, inner_state="", **fields):
    async with stores.write() as tx:
        await tx.relations.ensure(replace(Relation.new("soul_1", user_id, NOW), inner_state=inner_state, **fields))


async def test_a_reflection_writes_that_persons_relation_and_slots_and_nobody_elses(house):
    await know(house, ANN, "She is new to me.")
    await know(house, BOB, "He is loud.", bond="neighbours")
    async with house.write() as tx:
        await tx.slots.put(slot(1, "has a boat", user_id=BOB))
        await tx.slots.put(slot(3, "Bob hates the sea", user_id=BOB, shared_with=(ANN,)))
    ids = await told(house, ANNS, *TALK)
    answer = thought(slots=[{"n": 1, "content": "They saw a whale"}], bond="travel friends")
    asked = await reflected(house, ANNS, ids[-1], answer=answer)
    assert await kept(house, ANN) == (
        ("I would love to go along one day.", "travel friends"),
        {1: ("They saw a whale", ())},
    )
    assert await kept(house, BOB) == (
        ("He is loud.", "neighbours"),
        {1: ("has a boat", ()), 3: ("Bob hates the sea", (ANN,))},
    )
    assert "She is new to me." in asked
    for foreign in ("He is loud", "has a boat", "neighbours", "Bob hates"):
        assert foreign not in asked
    assert await own_monologue(house) == OWN


async def test_two_who_have_not_met_before_have_met_by_then(house):
    ids = await told(house, BOBS, *TALK)
    asked = await reflected(house, BOBS, ids[-1], BOB)
    assert "bob is somebody I care about." in asked
    async with house.read() as tx:
        assert [version.source for version in await tx.monologues.all("soul_1", BOB)] == [
            "reflection:turn_1",
            "meeting",
        ]
    assert (await kept(house, BOB))[0] == ("I would love to go along one day.", "")


async def test_a_thought_about_itself_that_takes_nothing_from_anybody_is_for_everybody(house):
    ids = await told(house, ANNS, *TALK)
    await reflected(house, ANNS, ids[-1], answer=thought(about_itself=GROWN))
    assert await own_monologue(house) == GROWN
    async with house.read() as tx:
        versions = await tx.monologues.all("soul_1")
    assert [version.source for version in versions] == ["reflection:turn_1", "birth"]


@pytest.mark.parametrize(
    "thought_of_itself",
    [
        "I am Mika. I dream of the whale now.",
        "I am Mika. I have grown fond of Annie.",
        "I am Mika. She has made me braver.",
        "I am Mika. I am somebody whom they can trust.",
        "I am Mika. I know what the doctor found in Oslo.",
        "I am Mika. I have begun to count the gulls at night.",
        "I am Mika. I wonder about the operation.",
        "I am Mika. I think of the amber ring.",
    ],
    ids=["a word", "the name", "a pronoun", "somebody", "the end of a long text", "grown here", "a slot", "the file"],
)
async def test_a_thought_about_itself_that_tells_of_somebody_is_refused(house, tmp_path, thought_of_itself):
    workspaces = Workspaces(tmp_path)
    folder = workspaces.folder("soul_1") / "people" / ANN
    folder.mkdir(parents=True)
    (folder / "USER.md").write_text("Wears an amber ring.")
    async with house.write() as tx:
        await tx.sessions.delete(ANNS)
        await tx.sessions.add(anns(character_snapshot=snapshot(evolved_persona="A harbour for lost gulls.")))
        await tx.preferences.put(called(ANN, "Annie"))
        await tx.slots.put(slot(0, "waits for an operation", user_id=ANN))
    words = " ".join(f"word{n}" for n in range(700))
    ids = await told(house, ANNS, *TALK[:-1], f"{words} and then the doctor in Oslo found it")
    lines = Told()
    answer = thought(about_itself=thought_of_itself)
    await reflected(house, ANNS, ids[-1], answer=answer, told=lines, memory=Memory(workspaces=workspaces))
    assert await own_monologue(house) == OWN
    refused = [line for name, line in lines.lines if name == "memory.refused"]
    assert [(line["kind"], line["reason"]) for line in refused] == [("monologue", "not_for_everybody")]
    assert (await kept(house, ANN))[0][0] == "I would love to go along one day.", "the rest is kept"


@pytest.mark.parametrize(
    ("text", "told_by_them", "names", "for_everybody"),
    [
        ("我发现自己学会了等。", ["我把船卖了"], ["老周"], True),
        ("我发现自己想念那条旧渔船。", ["上个星期我把旧渔船卖了"], [], False),
        ("我发现自己喜欢林的安静。", [], ["林"], False),
        ("我学会了和Ann相处。", [], ["Ann"], False),
        ("他让我学会了等。", [], [], False),
        ("I plan my days better.", [], ["Ann"], True),
        ("I keep a light.", ["Your light was on"], [], True),
    ],
)
def test_a_thought_is_for_everybody_if_it_borrows_no_word_and_names_nobody(text, told_by_them, names, for_everybody):
    assert is_about_itself(text, told_by_them, names, [OWN]) is for_everybody


async def test_a_group_leaves_relations_alone_and_shares_what_it_keeps_with_those_present(house):
    await know(house, BOB, "He is loud.", bond="neighbours")
    async with house.write() as tx:
        await tx.slots.put(slot(1, "Bob hides a key", user_id=BOB))
        await tx.slots.put(slot(2, "Bob rows", user_id=BOB, shared_with=(ANN,)))
    await told(house, GROUP, "Good day to both", "I shall listen")
    ids = await told(house, GROUP, *TALK[:3], user_id=BOB)
    slots = [{"n": 1, "content": "Bob saw the whale"}, {"n": 2, "content": "Bob is on a journey"}]
    answer = thought(inner_state="Those two are good company for me.", bond="lovers", slots=slots)
    asked = await reflected(house, GROUP, ids[-1], BOB, answer)
    assert await kept(house, BOB) == (
        ("He is loud.", "neighbours"),
        {1: ("Bob hides a key", ()), 2: ("Bob is on a journey", (ANN,))},
    )
    assert "Bob rows" in asked
    for private in ("Bob hides a key", "He is loud.", "neighbours"):
        assert private not in asked
    assert "ann said: “Good day to both”" in asked and "bob said: “I saw the whale" in asked


async def test_in_a_group_a_thought_about_itself_names_none_of_them(house):
    async with house.write() as tx:
        await tx.preferences.put(called(ANN, "Annie", shared_with=(BOB,)))
    ids = await told(house, GROUP, *TALK, user_id=BOB)
    answer = thought(about_itself="I am Mika. I have become patient beside Annie.")
    await reflected(house, GROUP, ids[-1], BOB, answer)
    assert await own_monologue(house) == OWN


async def test_what_was_said_before_others_came_is_neither_shown_to_the_model_nor_counted(house):
    await told(house, GROUP, *["only Ann knows this"] * EVERY, people=())
    ids = await told(house, GROUP, *TALK[:-1])
    assert await reflected(house, GROUP, ids[-1]) == ""
    ids = await told(house, GROUP, TALK[-1])
    asked = await reflected(house, GROUP, ids[-1])
    assert "I saw the whale again" in asked
    assert "only Ann knows" not in asked


async def test_of_those_who_have_left_the_words_are_still_theirs(house):
    await told(house, GROUP, "I hate the sea", user_id=BOB)
    ids = await told(house, GROUP, *TALK)
    async with house.write() as tx:
        await tx.sessions.gather(GROUP, (), {}, NOW)
    asked = await reflected(house, GROUP, ids[-1])
    assert "bob said: “I hate the sea”" in asked
    assert "they said: “I saw the whale again" in asked


async def test_who_has_left_the_session_is_not_thought_about(house):
    ids = await told(house, GROUP, *TALK, user_id=BOB)
    async with house.write() as tx:
        await tx.sessions.gather(GROUP, (), {}, NOW)
    assert await reflected(house, GROUP, ids[-1], BOB) == ""
    assert await kept(house, BOB) == (None, {})


async def test_a_soul_that_joined_later_thinks_of_what_it_has_heard(house):
    async with house.write() as tx:
        await tx.souls.add(soul("soul_2", name="Nova"))
        await tx.sessions.gather(GROUP, (BOB,), {"soul_2": snapshot()}, NOW)
    await told(house, GROUP, *["before Nova came"] * EVERY, souls=())
    ids = await told(house, GROUP, *TALK)
    asked = await reflected(house, GROUP, ids[-1], soul_id="soul_2")
    assert "before Nova came" not in asked
    assert "Mika said: “I see.”" in asked


async def test_two_people_who_make_it_think_at_once_do_not_overwrite_one_another(house):
    anns_ids, bobs_ids = await told(house, ANNS, *TALK), await told(house, BOBS, *TALK)
    hers = thought(inner_state="I like how she looks at the sea.", about_itself=GROWN)
    his = thought(inner_state="I like how he laughs.", about_itself="I am Mika. I have become calmer.")
    await asyncio.gather(
        reflected(house, ANNS, anns_ids[-1], ANN, hers), reflected(house, BOBS, bobs_ids[-1], BOB, his)
    )
    assert (await kept(house, ANN))[0][0] == "I like how she looks at the sea."
    assert (await kept(house, BOB))[0][0] == "I like how he laughs."
    async with house.read() as tx:
        versions = [one.inner_state for one in await tx.monologues.all("soul_1")]
    assert len(versions) == 2 and versions[-1] == OWN
    assert await own_monologue(house) == versions[0]


async def test_what_another_person_made_it_think_of_itself_meanwhile_stays_and_the_relation_is_written(house):
    async def bob_talks():
        async with house.write() as tx:
            await tx.monologues.think("soul_1", "I am Mika. I have become calmer.", "reflection:turn_2", NOW)

    ids = await told(house, ANNS, *TALK)
    answer = thought(about_itself=GROWN)
    await reflected(house, ANNS, ids[-1], answer=answer, budget=Meanwhile(bob_talks))
    assert await own_monologue(house) == "I am Mika. I have become calmer."
    assert (await kept(house, ANN))[0][0] == "I would love to go along one day."


async def test_what_the_same_person_made_it_think_meanwhile_is_not_overwritten(house):
    async def ann_talks_elsewhere():
        async with house.write() as tx:
            await tx.monologues.think("soul_1", "She is tired today.", "reflection:turn_2", NOW, ANN)

    await know(house, ANN, "She is new to me.")
    ids = await told(house, ANNS, *TALK)
    with pytest.raises(Conflict, match="think again"):
        await reflected(house, ANNS, ids[-1], budget=Meanwhile(ann_talks_elsewhere))
    assert (await kept(house, ANN))[0][0] == "She is tired today."


async def test_a_job_from_before_people_had_owners_is_of_the_sessions_person(house):
    ids = await told(house, GROUP, *TALK)
    state = follow_up(ids[-1], session_id=GROUP)
    answer = thought(slots=[{"n": 1, "content": "They saw a whale"}])
    async with StubOpenAI(answer) as stub, open_stub_voice(stub) as voice:
        await reflect(state, small_runtime(stores=house, clock=lambda: NOW, voice=voice))
    assert (await kept(house, group().user_id))[1] == {1: ("They saw a whale", (BOB,))}
