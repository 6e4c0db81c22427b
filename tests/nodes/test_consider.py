from dataclasses import replace

import pytest

from soulgraph.nodes.consider import ask_or_not, consider
from soulgraph.soul.dynamics import evolve
from soulgraph.tests.nodes.ann_and_bob import ANN, ANNS, BOB, BOBS, GROUP
from soulgraph.tests.nodes.homes import Told, open_home
from soulgraph.tests.nodes.samples import small_runtime
from soulgraph.tests.stores.samples import INFJ, NOW, session, soul

LATER = NOW + 90 * 60
LOCKED = replace(soul().emotion_state, lock_until=LATER + 3600)


@pytest.fixture
async def home(sqlite_url):
    async with open_home(sqlite_url) as stores:
        yield stores


async def considered(stores, now=LATER, soul_id="soul_1", told=None, user_id="user_1"):
    runtime = small_runtime(stores=stores, clock=lambda: now, telemetry=told or Told())
    return await consider({"soul_id": soul_id, "user_id": user_id}, runtime)


async def test_a_soul_that_nobody_has_talked_to_has_nobody_to_talk_to(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
    state = await considered(home, soul_id="soul_2")
    assert state == {"silence": "they have never talked alone"}
    assert ask_or_not(state) == "stay_silent"


async def test_those_who_have_only_just_been_together_are_left_alone(home):
    state = await considered(home, now=LATER - 1)
    assert state["silence"] == "they have only just been together"
    assert ask_or_not(state) == "stay_silent"


async def test_a_soul_whose_gate_is_closed_stays_silent_and_is_labelled_so(sqlite_url):
    told = Told()
    async with open_home(sqlite_url, emotion_state=LOCKED) as home:
        state = await considered(home, told=told)
    assert state["silence"] == "its gate is closed"
    assert told.labelled["exec_mode"] == "blocked"


async def test_an_occasion_has_the_newest_session_and_the_mood_of_now(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2", updated_at=NOW + 1))
    state = await considered(home)
    occasion = state["occasion"]
    assert state["silence"] == ""
    assert ask_or_not(state) == "decide"
    assert (occasion.at, occasion.soul.soul_id, occasion.session.session_id) == (LATER, "soul_1", "sess_2")
    assert occasion.emotion == evolve(INFJ, soul().emotion_state, LATER) != soul().emotion_state


async def test_the_trace_is_labelled_with_who_might_speak(home):
    told = Told()
    await considered(home, told=told)
    assert told.labelled == {
        "mbti": "INFJ",
        "session_id": "sess_1",
        "persona_mode": "hybrid",
        "exec_mode": "auto_execute",
    }


async def test_it_would_speak_to_each_in_a_conversation_they_had_alone(house):
    async with house.write() as tx:
        await tx.sessions.touch(GROUP, NOW + 1)
    for user_id, session_id in ((ANN, ANNS), (BOB, BOBS)):
        assert (await considered(house, user_id=user_id))["occasion"].session.session_id == session_id


async def test_nobodys_conversation_is_used_for_another(house):
    async with house.write() as tx:
        await tx.sessions.delete(BOBS)
    assert await considered(house, user_id=BOB) == {"silence": "they have never talked alone"}
    assert await considered(house, user_id="carl") == {"silence": "they have never talked alone"}


async def test_a_conversation_that_others_have_joined_is_not_for_one_of_them(house):
    async with house.write() as tx:
        await tx.sessions.delete(ANNS)
    assert await considered(house, user_id=ANN) == {"silence": "they have never talked alone"}
    async with house.write() as tx:
        await tx.sessions.gather(GROUP, (), {}, NOW)
    assert (await considered(house, user_id=ANN))["occasion"].session.session_id == GROUP
