"""Who speaks, to which soul and in which session: what a request leaves open, and what it cannot say."""

from dataclasses import replace

import pytest

from soulgraph.errors import Conflict, NotFound
from soulgraph.runtime.admission import TurnRequest, admit, check_session, stored_answer
from soulgraph.soul.people import DEFAULT_USER
from soulgraph.stores.factories import default_session_id
from soulgraph.tests.stores.samples import NOW, message, session, snapshot, soul

GROUP = session("both", user_id="ann", people=("bob",), souls={"soul_2": snapshot(source_preset="guest")})


@pytest.fixture
async def home(stores):
    """On both databases: two souls, a session of Ann's, one of both people and souls, and two terminals."""
    async with stores.write() as tx:
        for soul_id in ("soul_1", "soul_2"):
            await tx.souls.add(soul(soul_id))
        await tx.sessions.add(session("anns", user_id="ann"))
        await tx.sessions.add(GROUP)
        await tx.terminals.bind("lamp", "soul_1", NOW)
        await tx.terminals.bind("anns_phone", "soul_1", NOW, "ann")
        await tx.terminals.seen("unbound", NOW)
    return stores


async def admitted(stores, **fields):
    one = await admit(stores, TurnRequest("hello", **fields))
    return one["user_id"], one["soul_id"], one["session_id"]


async def test_who_says_who_speaks_is_who_speaks(home):
    user_id, soul_id, session_id = await admitted(home, user_id="bob", soul_id="soul_1")
    assert (user_id, soul_id) == ("bob", "soul_1")
    assert session_id == default_session_id("soul_1", "bob")


async def test_without_a_word_it_is_the_sessions_person_else_the_terminals_else_the_default_one(home):
    assert await admitted(home, session_id="anns") == ("ann", "soul_1", "anns")
    assert (await admitted(home, terminal_id="anns_phone"))[0] == "ann"
    assert (await admitted(home, terminal_id="lamp"))[0] == DEFAULT_USER
    assert (await admitted(home, soul_id="soul_1"))[0] == DEFAULT_USER
    assert (await admitted(home, session_id="anns", terminal_id="lamp"))[0] == "ann"


async def test_at_a_terminal_each_person_has_a_session_of_their_own(home):
    usual = await admitted(home, terminal_id="anns_phone")
    other = await admitted(home, terminal_id="anns_phone", user_id="bob")
    assert usual[2] == default_session_id("soul_1", "ann", "anns_phone")
    assert other == ("bob", "soul_1", default_session_id("soul_1", "bob", "anns_phone"))


async def test_in_a_group_anybody_of_it_speaks_to_any_of_its_souls(home):
    assert await admitted(home, session_id="both") == ("ann", "soul_1", "both")
    assert await admitted(home, session_id="both", user_id="bob", soul_id="soul_2") == ("bob", "soul_2", "both")
    fields = {"session_id": "both", "soul_id": "soul_2", "character_id": "guest"}
    assert await admitted(home, **fields) == ("ann", "soul_2", "both")


@pytest.mark.parametrize(
    "fields",
    [
        {"session_id": "anns", "user_id": "bob"},
        {"session_id": "anns", "user_id": DEFAULT_USER},
        {"session_id": "anns", "user_id": "Ann"},
        {"session_id": "both", "user_id": "carl"},
        {"session_id": "anns", "soul_id": "soul_2"},
        {"session_id": "both", "soul_id": "soul_3"},
        {"session_id": "both", "soul_id": "soul_1", "character_id": "guest"},
        {"session_id": "anns", "template_id": "narrator_v1"},
    ],
)
async def test_what_does_not_fit_the_session_is_refused(home, fields):
    with pytest.raises(Conflict, match="start another") as refused:
        await admitted(home, **fields)
    assert refused.value.problem_code == "session_mismatch"


async def test_a_soul_must_be_known_and_a_terminal_must_have_one(home):
    with pytest.raises(NotFound):
        await admitted(home, soul_id="soul_9", user_id="ann")
    for terminal_id in ("unbound", "unknown"):
        with pytest.raises(Conflict, match="soul selection is required"):
            await admitted(home, terminal_id=terminal_id)


def test_who_has_left_is_a_stranger_again():
    request = TurnRequest("hello")
    check_session(GROUP, request, "soul_1", "bob")
    with pytest.raises(Conflict):
        check_session(replace(GROUP, people=()), request, "soul_1", "bob")


async def test_an_answer_is_given_again_only_to_whom_it_was_given(home):
    async with home.write() as tx:
        await tx.turns.heard("both", "in_1", "turn_1", "soul_1", {}, NOW)
        await tx.turns.answered("both", "in_1", {"reply": "To Ann."})
        await tx.messages.append("both", [message("hello", user_id="ann", people=("bob",), input_id="in_1")])
    again = {"session_id": "both", "input_id": "in_1"}
    assert await stored_answer(home, await admit(home, TurnRequest("hello", "ann", **again))) == {"reply": "To Ann."}
    with pytest.raises(Conflict, match="somebody else"):
        await stored_answer(home, await admit(home, TurnRequest("hello", "bob", **again)))
