"""How a session begins: greeted once, for the person it is opened for."""

import pytest

from soulgraph.errors import Conflict
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.greeting import open_session
from soulgraph.stores.factories import default_session_id
from soulgraph.tests.nodes.samples import small_context
from soulgraph.tests.stores.samples import NOW, session, soul

GREETED = {"name": "Keeper", "greetings": ["Come in.", "请进。"], "base_persona": "A keeper."}


@pytest.fixture
async def home(stores):
    async with stores.write() as tx:
        await tx.characters.add("keeper", "Keeper", GREETED, NOW)
        await tx.souls.add(soul(character_id="keeper"))
    return stores


async def opened(stores, user_id, choice=0, **fields):
    request = TurnRequest("", user_id, soul_id="soul_1", **fields)
    return await open_session(small_context(stores=stores, clock=lambda: NOW), request, choice)


async def test_everybody_is_greeted_in_a_session_of_their_own_and_once(home):
    ann, bob = await opened(home, "ann"), await opened(home, "bob", 1)
    assert (ann.session.user_id, ann.greeting) == ("ann", "Come in.")
    assert (bob.session.user_id, bob.greeting) == ("bob", "请进。")
    assert ann.session.session_id == default_session_id("soul_1", "ann") != bob.session.session_id
    assert (await opened(home, "ann", 1)).greeting == "Come in."
    async with home.read() as tx:
        [said] = await tx.messages.page(ann.session.session_id)
    assert (said.role, said.user_id, said.soul_id, said.people) == ("assistant", "ann", "soul_1", ())


async def test_a_greeting_is_known_to_those_who_were_there(home):
    await opened(home, "ann")
    async with home.read() as tx:
        assert [one.user_id for one in await tx.episodes.after("soul_1", ["ann"])] == ["ann"]
        assert await tx.episodes.after("soul_1", ["bob"]) == []


async def test_a_group_is_greeted_together(home):
    snapshot = (await opened(home, "ann")).session.character_snapshot
    both = session("both", user_id="ann", people=("bob",), character_snapshot=snapshot)
    async with home.write() as tx:
        await tx.sessions.add(both)
    assert (await opened(home, "bob", session_id="both")).greeting == "Come in."
    async with home.read() as tx:
        [said] = await tx.messages.page("both")
    assert {said.user_id, *said.people} == {"ann", "bob"}


async def test_nobody_opens_anothers_session(home):
    ann = await opened(home, "ann")
    with pytest.raises(Conflict):
        await opened(home, "bob", session_id=ann.session.session_id)
