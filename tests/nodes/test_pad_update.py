from dataclasses import replace

import pytest

from soulgraph.errors import Conflict, NotFound
from soulgraph.library.persona_config import PersonaConfig
from soulgraph.nodes.pad_update import pad_update
from soulgraph.soul.emotions import UserEmotion
from soulgraph.stores.records import Relation
from soulgraph.tests.nodes.ann_and_bob import ANN, ANNS, BOB, BOBS, GROUP, called
from soulgraph.tests.nodes.samples import Notebook, small_runtime, utterance
from soulgraph.tests.stores.samples import NOW, persona_state, session

ANGER = UserEmotion("anger", -0.6, 0.75, 0.25, 1.0, 0.9)
JOY = UserEmotion("joy", 0.7, 0.55, 0.2, 1.0, 0.9)


async def heard(stores, text="你好", felt=ANGER, at=NOW, before=None, ports=None, **fields):
    state = {"utterance": utterance(text, **fields), "user_emotion": felt, **(before or {})}
    return await pad_update(state, small_runtime(stores=stores, clock=lambda: at, **(ports or {})))


async def stored_soul(stores):
    async with stores.read() as tx:
        return await tx.souls.get("soul_1")


async def test_what_is_heard_moves_the_soul_and_is_stored_at_once(home):
    before = await stored_soul(home)
    impact = (await heard(home))["impact"]
    after = await stored_soul(home)
    assert after.emotion_state == impact.soul.emotion_state
    assert after.emotion_state.p < before.emotion_state.p
    assert (after.turns, impact.soul.turns) == (1, 1)
    assert impact.soul_emotion == after.emotion_state.to_dict()


async def test_two_inputs_move_it_twice(home):
    first = (await heard(home, input_id="in_1"))["impact"]
    second = (await heard(home, input_id="in_2", turn_id="turn_2"))["impact"]
    assert second.soul.emotion_state.p < first.soul.emotion_state.p
    assert (await stored_soul(home)).turns == 2


async def test_a_repeated_input_moves_nothing_and_keeps_the_first_turn_and_emotion(home):
    first = (await heard(home, felt=ANGER))["impact"]
    again = (await heard(home, felt=JOY, turn_id="turn_2"))["impact"]
    assert (again.turn_id, again.user_emotion) == ("turn_1", replace(ANGER, appraisal=ANGER.appraised))
    assert again.soul.emotion_state == first.soul.emotion_state
    assert (await stored_soul(home)).turns == 1


async def test_an_input_that_another_server_has_answered_meanwhile_is_not_answered_twice(home):
    """The lock of the session ends with the database's connection, so two servers may run the same turn."""
    ids = {name: utterance()[name] for name in ("session_id", "input_id", "turn_id")}
    await heard(home)
    async with home.write() as tx:
        await tx.turns.answered_anew(**ids, answer={"reply": "Hello"})
    with pytest.raises(Conflict, match="another server has just answered this input") as refused:
        await heard(home, turn_id="turn_2")
    assert refused.value.problem_code == "turn_superseded"


async def test_time_passes_also_before_a_repeated_input(home):
    first = (await heard(home))["impact"]
    later = (await heard(home, at=NOW + 600))["impact"]
    assert first.soul.emotion_state.p < later.soul.emotion_state.p
    assert (await stored_soul(home)).emotion_state.updated_at == NOW + 600


async def test_an_input_leaves_one_point_in_the_history_however_often_it_is_sent(home):
    emotion = (await heard(home))["impact"].soul.emotion_state
    await heard(home, at=NOW + 600)
    async with home.read() as tx:
        [point] = await tx.history.between("soul_1", NOW, NOW + 600)
    assert (point.at, point.p, point.a, point.d) == (NOW, *emotion.x)


async def test_a_new_session_begins_as_the_utterance_says_and_is_not_stored_yet(home):
    begun = (await heard(home, "早上好", template_id="narrator_v1", user_id="user_7"))["impact"].session
    assert (begun.session_id, begun.soul_id, begun.user_id) == ("sess_1", "soul_1", "user_7")
    assert (begun.template_id, begun.title, begun.turn) == ("narrator_v1", "早上好", 0)
    async with home.read() as tx:
        assert await tx.sessions.find("sess_1") is None
        assert await tx.turns.find("sess_1", "in_1") is not None


async def test_a_setting_that_is_not_there_leaves_the_soul_unmoved(home):
    before = await stored_soul(home)
    with pytest.raises(NotFound):
        await heard(home, background_id="atlantis")
    assert await stored_soul(home) == before


@pytest.mark.parametrize(
    ("checkpoint", "mode"),
    [
        ({"turn": 3, "persona_state": persona_state("idol")}, "idol"),
        ({"turn": 2, "persona_state": persona_state("idol")}, "strict"),
        ({"turn": 1, "persona_state": persona_state("idol")}, "strict"),
        ({}, "strict"),
    ],
    ids=["checkpoint newer", "both alike", "row newer", "no checkpoint"],
)
async def test_the_newer_of_checkpoint_and_session_says_the_mode(home, checkpoint, mode):
    async with home.write() as tx:
        await tx.sessions.add(session(turn=2, persona_state=persona_state("strict")))
    assert (await heard(home, before=checkpoint))["persona_state"]["mode"] == mode


@pytest.mark.parametrize(("dynamic", "mode"), [(True, "rational"), (False, "hybrid")])
async def test_a_mode_that_is_asked_for_begins_with_this_turn_if_modes_may_change(home, dynamic, mode):
    telemetry = Notebook()
    ports = {"persona": PersonaConfig(dynamic_modes=dynamic), "telemetry": telemetry}
    assert (await heard(home, "切换到理性模式", ports=ports))["persona_state"]["mode"] == mode
    assert telemetry.labels() == {"mbti": "INFJ", "persona_mode": mode}


async def test_a_wish_in_the_text_is_decided_on(home):
    [decision] = (await heard(home, "以后叫我小王"))["impact"].decisions
    assert (decision.value, decision.verdict) == ("小王", "persist")
    assert (await heard(home, "你好", input_id="in_2", turn_id="turn_2"))["impact"].decisions == []


async def test_a_hint_is_counted_for_the_session(home):
    impact = (await heard(home, "说短一点"))["impact"]
    [hint] = impact.guard["hints"].values()
    assert hint["count"] == 1
    assert impact.session.guard == {}


async def test_without_write_back_no_wish_is_decided_on(home):
    impact = (await heard(home, "以后叫我小王", ports={"persona": PersonaConfig(write_back=False)}))["impact"]
    assert impact.decisions == []


async def heard_in(stores, session_id, user_id, text="你好", n=1):
    ids = {"session_id": session_id, "user_id": user_id, "input_id": f"in_{n}", "turn_id": f"turn_{n}"}
    return (await heard(stores, text, **ids))["impact"]


@pytest.mark.parametrize("user_id", [BOB, "carl"])
async def test_who_is_not_in_the_session_is_refused_and_nothing_is_felt_or_stored(house, user_id):
    before = await stored_soul(house)
    with pytest.raises(Conflict, match="start another for"):
        await heard(house, "我恨你", session_id=ANNS, user_id=user_id)
    assert await stored_soul(house) == before
    async with house.read() as tx:
        assert await tx.turns.find(ANNS, "in_1") is None
        assert await tx.history.between("soul_1", 0, NOW + 1) == []


async def test_the_profile_of_a_turn_has_only_what_its_audience_may_know(house):
    items = [
        {"content": "born so", "priority": 5},
        {"content": "Ann's", "priority": 5, "user_id": ANN},
        {"content": "Bob's", "priority": 5, "user_id": BOB},
        {"content": "both know", "priority": 5, "user_id": BOB, "shared_with": [ANN]},
    ]
    retired = [{"id": "r", "field": "emotions", "item": items[2]}]
    async with house.write() as tx:
        await tx.souls.grow("soul_1", {"dynamic_state": {"emotions": {"items": items}}, "retired": retired}, NOW)

    async def known(session_id, user_id, n):
        soul = (await heard_in(house, session_id, user_id, n=n)).soul
        assert "retired" not in soul.dynamic_profile
        return [item["content"] for item in soul.dynamic_profile["dynamic_state"]["emotions"]["items"]]

    assert await known(ANNS, ANN, 1) == ["born so", "Ann's", "both know"]
    assert await known(BOBS, BOB, 2) == ["born so", "Bob's", "both know"]
    assert await known(GROUP, ANN, 3) == ["born so", "both know"]
    assert len((await stored_soul(house)).dynamic_profile["dynamic_state"]["emotions"]["items"]) == 4


async def test_in_a_group_the_guard_keeps_count_of_each_person(house):
    first = await heard_in(house, GROUP, ANN, "说短一点")
    async with house.write() as tx:
        await tx.sessions.set_guard(GROUP, {ANN: first.guard})
    bob = await heard_in(house, GROUP, BOB, "说短一点", 2)
    again = await heard_in(house, GROUP, ANN, "说短一点", 3)
    assert [one.guard["hints"]["reply_length"]["count"] for one in (first, bob, again)] == [1, 1, 2]
    assert bob.session.guard == {ANN: first.guard}


async def test_a_turn_knows_its_person_and_nobody_else(house):
    async with house.write() as tx:
        for user_id in (ANN, BOB):
            await tx.relations.ensure(replace(Relation.new("soul_1", user_id, NOW), inner_state=f"about {user_id}"))
            await tx.preferences.put(called(user_id, user_id.title()))
    alone = await heard_in(house, BOBS, BOB)
    assert (alone.relation.inner_state, alone.names) == ("about bob", {BOB: "Bob"})
    assert alone.preferences == {"address": "Bob"}
    together = await heard_in(house, GROUP, BOB, n=2)
    assert (together.relation, together.names) == (None, {ANN: ANN, BOB: BOB})


async def answered(stores, **fields):
    async with stores.write() as tx:
        await tx.turns.answered("sess_1", "in_1", {"reply": "yes", **fields})


async def test_what_is_answered_anew_is_a_turn_of_its_own_and_moves_nothing(home):
    first = await heard(home, felt=ANGER)
    moved = await stored_soul(home)
    await answered(home)
    again = await heard(home, felt=JOY, turn_id="turn_2", replaces=1)
    assert (again["impact"].turn_id, again["impact"].regenerated) == ("turn_2", True)
    assert again["impact"].user_emotion.emotion == first["impact"].user_emotion.emotion == "anger"
    assert (await stored_soul(home)).turns == moved.turns


async def test_an_edit_that_is_sent_again_after_a_failure_is_no_regeneration(home):
    await heard(home, replaces=1)
    again = await heard(home, turn_id="turn_2", replaces=1)
    assert (again["impact"].turn_id, again["impact"].regenerated) == ("turn_2", False)


async def test_wishes_of_what_is_answered_anew_hold_for_the_reply_and_count_no_second_time(home):
    text = "说短一点"
    first = await heard(home, text)
    assert first["impact"].guard["hints"]
    await answered(home)
    async with home.write() as tx:
        await tx.sessions.add(session(guard={"user_1": first["impact"].guard}))
    again = await heard(home, text, replaces=1)
    assert again["impact"].guard == first["impact"].guard
    assert again["impact"].wishes == first["impact"].wishes
    assert all(decision.verdict != "persist" for decision in again["impact"].decisions)
