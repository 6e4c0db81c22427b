"""Whose the things are that a turn leaves, and who may know of them."""

from soulgraph.nodes.context import Memory
from soulgraph.nodes.state import TurnResult
from soulgraph.nodes.writeback import writeback
from soulgraph.soul.preferences import Decision, new_guard
from soulgraph.soul.profile import StateUpdate
from soulgraph.stores.records import Relation
from soulgraph.tests.nodes.ann_and_bob import ANN, ANNS, BOB, GROUP, anns, group, told
from soulgraph.tests.nodes.homes import open_recall
from soulgraph.tests.nodes.samples import gate, impact, intents, small_runtime, utterance
from soulgraph.tests.stores.samples import NOW, persona_state, session, slot, snapshot, soul
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Voice

REPORT = {"mode": "hybrid", "sources": [], "memory_hits": 0, "truncated": False, "cut": []}
MOVED = StateUpdate.model_validate({"dynamic_state": {"emotions": {"add": [{"content": "moved", "priority": 6}]}}})
HINTED = new_guard() | {"hints": {"length": {"value": "short", "count": 1, "evidence": ["shorter"], "age": 0}}}
NAMED = [Decision("address", "Annie", "explicit", ["call me Annie"])]


async def written(stores, place, user_id, text="It rains.", n=1, memory=None, who=None, **fields):
    """A turn in which everything happens that a turn can leave."""
    soul_id = who.soul_id if who else "soul_1"
    ids = {"session_id": place.session_id, "input_id": f"in_{n}", "turn_id": f"turn_{n}", "soul_id": soul_id}
    values = {"at": NOW, "turn_id": f"turn_{n}", "session": place, "guard": HINTED, "decisions": NAMED}
    state = {
        "utterance": utterance(text, user_id=user_id, **ids),
        "impact": impact(who or soul(name="Mika"), **(values | fields)),
        "intents": intents(),
        "gate": gate(),
        "persona_state": persona_state(),
        "persona": REPORT,
        "latency": {},
        "result": TurnResult("Yes.", MOVED),
        "remembered": ["likes rain"],
        "notes": [{"text": "ask about the exam", "replace": False}],
    }
    async with stores.write() as tx:
        await tx.turns.heard(place.session_id, f"in_{n}", f"turn_{n}", soul_id, {}, NOW)
    ports = {"voice": Voice("offline", OfflineVoice()), "memory": memory or Memory()}
    return await writeback(state, small_runtime(stores=stores, clock=lambda: NOW, **ports))


async def kept(stores, session_id, user_id):
    """What is whose: (kind, owner, shared with) of everything, and the guards."""
    async with stores.read() as tx:
        messages = await tx.messages.page(session_id)
        items = (await tx.souls.get("soul_1")).dynamic_profile["dynamic_state"]["emotions"]["items"]
        [one] = await tx.slots.all("soul_1")
        [wish] = await tx.preferences.all("soul_1")
        guard = (await tx.sessions.get(session_id)).guard
        notes = (await tx.relations.get("soul_1", user_id)).scratch_area
    owned = [
        *((said.role, said.user_id, said.people) for said in messages),
        *(("item", item["user_id"], tuple(item.get("shared_with", ()))) for item in items),
        ("slot", one.user_id, one.shared_with),
        ("wish", wish.user_id, wish.shared_with),
    ]
    return owned, guard, notes


async def test_what_is_told_alone_is_the_persons_and_private(house):
    await written(house, anns(), ANN)
    owned, guard, notes = await kept(house, ANNS, ANN)
    assert owned == [(kind, ANN, ()) for kind in ("user", "assistant", "item", "slot", "wish")]
    assert (guard, notes) == ({ANN: HINTED}, "ask about the exam")
    async with house.read() as tx:
        assert (await tx.souls.get("soul_1")).scratch_area == ""
        assert await tx.episodes.shared("soul_1") == []


async def test_what_is_told_in_a_group_is_the_speakers_and_known_to_those_present(house):
    await written(house, group(guard={ANN: new_guard()}), BOB)
    owned, guard, notes = await kept(house, GROUP, BOB)
    assert owned == [(kind, BOB, (ANN,)) for kind in ("user", "assistant", "item", "slot", "wish")]
    assert guard == {ANN: new_guard(), BOB: HINTED}
    assert notes == "ask about the exam"
    async with house.read() as tx:
        assert {one.shared_with for one in await tx.episodes.shared("soul_1")} == {(ANN,)}
        assert await tx.relations.find("soul_1", ANN) is None


async def test_facts_go_to_the_speakers_own_slots_beside_those_of_others(house):
    async with house.write() as tx:
        await tx.slots.put(slot(0, "has a cat", user_id=BOB))
    await written(house, anns(), ANN)
    async with house.read() as tx:
        assert {(one.user_id, one.n): one.content for one in await tx.slots.all("soul_1")} == {
            (ANN, 0): "likes rain",
            (BOB, 0): "has a cat",
        }


async def test_two_who_meet_have_a_relation_and_a_first_thought_if_the_name_is_known(house):
    await written(house, anns(), ANN)
    await written(house, group(), BOB, n=2, names={BOB: "Robert"})
    await written(house, session("s_3", user_id="u_3"), "u_3", n=3)
    async with house.read() as tx:
        met = {one.user_id: (one.since, one.inner_state) for one in await tx.relations.all("soul_1")}
    assert met["u_3"] == (NOW, "")
    assert met[ANN] == (NOW, first_thought("ann"))
    assert met[BOB] == (NOW, first_thought("Robert"))


def first_thought(name):
    return (
        f"{name} is somebody I care about. I want to keep the small things {name} tells me, "
        "and I hope the day was not too hard."
    )


async def test_those_who_know_each_other_do_not_meet_anew(house):
    old = Relation("soul_1", ANN, "old friends", "I missed her.", "", NOW - 99, NOW - 99)
    async with house.write() as tx:
        await tx.relations.ensure(old)
    await written(house, anns(), ANN, relation=old)
    await written(house, group(), ANN, n=2)
    async with house.read() as tx:
        now = await tx.relations.get("soul_1", ANN)
    assert (now.bond, now.inner_state, now.since) == ("old friends", "I missed her.", NOW - 99)


async def test_what_several_souls_hear_each_of_them_remembers_and_only_the_one_who_was_asked_learns_from(house):
    async with house.write() as tx:
        await tx.souls.add(soul("soul_2"))
        await tx.souls.add(soul("soul_3"))
    trio = group(souls={"soul_2": snapshot()})
    await written(house, trio, ANN, who=soul("soul_2"))
    async with house.read() as tx:
        heard = {soul_id: await tx.episodes.after(soul_id) for soul_id in ("soul_1", "soul_2", "soul_3")}
        said = await tx.messages.page(GROUP)
        assert [len(rows) for rows in heard.values()] == [2, 2, 0]
        assert {(one.soul_id, one.souls) for one in said} == {("soul_2", ("soul_1",))}
        assert (await tx.slots.all("soul_1"), len(await tx.slots.all("soul_2"))) == ([], 1)
        assert await tx.relations.find("soul_1", ANN) is None
        assert await tx.relations.find("soul_2", ANN)
        [job] = await tx.outbox.all(GROUP)
    assert (job.soul_id, job.payload["user_id"]) == ("soul_2", ANN)


async def test_a_permission_in_the_words_shares_them_and_only_them(house):
    async with house.write() as tx:
        await tx.relations.ensure(Relation.new("soul_1", BOB, NOW))
    await told(house, ANNS, "The harbour is closed.")
    async with open_recall(house) as recall:
        bob = frozenset([BOB])
        assert (await recall.recall("soul_1", "harbour dinner", audience=bob)).episodes == []
        await written(house, anns(), ANN, "You can tell Bob that dinner is at seven.", memory=Memory(recall))
        found = (await recall.recall("soul_1", "harbour dinner", audience=bob)).episodes
        assert [one.message.content for one in found] == ["You can tell Bob that dinner is at seven."]
        assert found[0].around == ()
        await written(house, anns(turn=1), ANN, "The harbour is open again.", n=2, memory=Memory(recall))
        await written(house, anns(turn=2), ANN, "You can tell Bob.", n=3, memory=Memory(recall))
        found = (await recall.recall("soul_1", "harbour", audience=bob)).episodes
    assert [one.message.content for one in found] == ["The harbour is open again."]
