"""Sessions: kept field for field, newest first, and each turn number is given once."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from soulgraph.errors import Conflict, NotFound
from soulgraph.tests.stores.samples import ANY_JSON, NOW, live, persona_state, session, snapshot, soul

LATER = NOW + 60


async def test_a_session_comes_back_as_it_was_added(home):
    rich = session(
        "sess_2",
        title="海边的一夜 🌊",
        background_id="quiet_flat",
        character_snapshot=ANY_JSON,
        persona_state=persona_state("idol"),
        turn=7,
        continued_from="sess_1",
    )
    async with home.write() as tx:
        await tx.sessions.add(rich)
    async with home.read() as tx:
        assert await tx.sessions.get("sess_1") == await tx.sessions.find("sess_1") == session()
        assert await tx.sessions.get("sess_2") == rich
        assert await tx.sessions.find("sess_3") is None


async def test_a_session_needs_a_soul(stores):
    with pytest.raises(IntegrityError):
        async with stores.write() as tx:
            await tx.sessions.add(session(soul_id="nobody"))


async def test_a_session_is_added_once(home):
    with pytest.raises(IntegrityError):
        async with home.write() as tx:
            await tx.sessions.add(session())


async def test_a_session_that_is_there_is_left_as_it_is(home):
    async with home.write() as tx:
        await tx.sessions.ensure(session(title="new"))
        await tx.sessions.ensure(session("sess_2", title="new"))
        assert await tx.sessions.get("sess_1") == session()
        assert await tx.sessions.get("sess_2") == session("sess_2", title="new")


async def test_sessions_are_listed_newest_first_by_soul_and_up_to_a_limit(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        await tx.sessions.add(session("d", updated_at=LATER))
        await tx.sessions.add(session("c", "soul_2", updated_at=LATER))
        await tx.sessions.add(session("b", updated_at=LATER + 1))
    async with home.read() as tx:
        assert names(await tx.sessions.all()) == ["b", "c", "d", "sess_1"]
        assert names(await tx.sessions.all("soul_1")) == ["b", "d", "sess_1"]
        assert names(await tx.sessions.all("soul_1", limit=2)) == ["b", "d"]
        assert names(await tx.sessions.all(limit=0)) == []
        assert names(await tx.sessions.all("nobody")) == []


async def test_a_session_can_get_another_title(home):
    async with home.write() as tx:
        await tx.sessions.retitle("sess_1", "夜 🌙", LATER)
    async with home.read() as tx:
        assert await tx.sessions.get("sess_1") == replace(session(), title="夜 🌙", updated_at=LATER)


async def test_a_touch_changes_the_date_alone(home):
    async with home.write() as tx:
        await tx.sessions.touch("sess_1", LATER)
    async with home.read() as tx:
        assert await tx.sessions.get("sess_1") == replace(session(), updated_at=LATER)


async def test_the_persona_state_can_be_set_between_turns(home):
    async with home.write() as tx:
        await tx.sessions.set_persona_state("sess_1", persona_state("strict"), LATER)
    async with home.read() as tx:
        expected = replace(session(), persona_state=persona_state("strict"), updated_at=LATER)
        assert await tx.sessions.get("sess_1") == expected


async def test_a_turn_advances_the_session(home):
    async with home.write() as tx:
        await tx.sessions.advance("sess_1", 1, persona_state("idol"), LATER)
        await tx.sessions.advance("sess_1", 2, persona_state("rational"), LATER)
    async with home.read() as tx:
        expected = replace(session(), turn=2, persona_state=persona_state("rational"), updated_at=LATER)
        assert await tx.sessions.get("sess_1") == expected


@pytest.mark.parametrize("turn", [0, 1, 3], ids=["older", "taken", "skipping"])
async def test_a_turn_number_out_of_order_is_refused(home, turn):
    async with home.write() as tx:
        await tx.sessions.advance("sess_1", 1, persona_state(), NOW)
    with pytest.raises(Conflict) as conflict:
        async with home.write() as tx:
            await tx.sessions.advance("sess_1", turn, persona_state("idol"), LATER)
    assert conflict.value.problem_code == "turn_superseded"
    async with home.read() as tx:
        assert await tx.sessions.get("sess_1") == replace(session(), turn=1)


async def test_of_writers_at_once_one_gets_the_turn_number(home):
    async def write(mode):
        async with home.write() as tx:
            await tx.sessions.advance("sess_1", 1, persona_state(mode), NOW)

    outcomes = await asyncio.gather(*map(write, ["idol", "strict", "rational"]), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes if outcome] == [Conflict, Conflict]


async def test_a_deleted_session_takes_along_its_own_rows_only(stores):
    await live(stores, 1)
    await live(stores, 2)
    async with stores.write() as tx:
        await tx.sessions.delete("sess_1")
    async with stores.read() as tx:
        assert await traces(tx, 1) == [None, [], None, []]
        assert all(await traces(tx, 2))
        assert len(await tx.preferences.all("soul_1")) == len(await tx.slots.all("soul_1")) == 1


async def test_an_unknown_session_is_not_found(home):
    async with home.write() as tx:
        sessions = tx.sessions
        for use in (
            sessions.get("nowhere"),
            sessions.retitle("nowhere", "", NOW),
            sessions.touch("nowhere", NOW),
            sessions.set_persona_state("nowhere", persona_state(), NOW),
            sessions.delete("nowhere"),
        ):
            with pytest.raises(NotFound, match="no session 'nowhere'"):
                await use


async def test_sessions_of_one_person_can_be_listed(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        for session_id, soul_id, user_id in (("a", "soul_1", "ann"), ("b", "soul_2", "ann"), ("c", "soul_1", "Ann")):
            await tx.sessions.add(session(session_id, soul_id, user_id=user_id))
        assert names(await tx.sessions.all(user_id="ann")) == ["a", "b"]
        assert names(await tx.sessions.all("soul_2", user_id="ann")) == ["b"]
        assert names(await tx.sessions.all("soul_1", user_id="bob")) == []


@pytest.mark.parametrize(
    "person", ["ann", "a", "a_n", "a%n", "%", "_", "Ann", "林", "小林", "ann.b", "b:ann", "*", "\\n"]
)
async def test_a_person_takes_part_in_their_own_sessions_and_in_their_groups_only(home, person):
    people = ["ann", "a", "a_n", "a%n", "%", "_", "Ann", "林", "小林", "ann.b", "b:ann", "*", "\\n"]
    apart = [one for one in people if one != person]
    async with home.write() as tx:
        await tx.sessions.add(session("group", user_id="somebody", people=("zoe", person, "bob"), updated_at=LATER))
        await tx.sessions.add(session("others", user_id="somebody", people=tuple(apart)))
        await tx.sessions.add(session("own", user_id=person))
        await tx.sessions.add(session("only guest", user_id="somebody", people=(person,)))
        for user_id in apart:
            await tx.sessions.add(session(f"of {user_id}", user_id=user_id))
        assert names(await tx.sessions.with_person(person)) == ["group", "only guest", "own"]
        assert names(await tx.sessions.with_person(person, "soul_1", limit=2)) == ["group", "only guest"]
        assert names(await tx.sessions.with_person(person, limit=1)) == ["group"]


@pytest.mark.parametrize("guest", ["soul_2", "灵魂", "s_2", "s%2"])
async def test_a_person_finds_the_sessions_in_which_a_soul_is_a_guest(home, guest):
    texts = snapshot(base_persona=f'She says "{guest}".', source_preset=guest)
    async with home.write() as tx:
        for soul_id in (guest, "other", guest[:-1]):
            await tx.souls.add(soul(soul_id))
        await tx.sessions.add(session("a", souls={guest: snapshot()}, user_id="ann"))
        await tx.sessions.add(session("b", souls={"other": texts}, user_id="ann"))
        await tx.sessions.add(session("c", guest, user_id="bob", people=("ann",)))
        await tx.sessions.add(session("d", souls={guest: snapshot()}, user_id="bob"))
        assert names(await tx.sessions.with_person("ann", guest)) == ["a", "c"]
        assert names(await tx.sessions.with_person("ann", "soul_1")) == ["a", "b"]
        assert names(await tx.sessions.with_person("ann", guest, limit=1)) == ["a"]
        assert names(await tx.sessions.with_person("ann", guest[:-1])) == []
        assert names(await tx.sessions.with_person("ann")) == ["a", "b", "c"]


async def test_people_and_souls_gather_and_part(home):
    guest = snapshot(base_persona="船长")
    async with home.write() as tx:
        await tx.sessions.gather("sess_1", ["林", "ann"], {"soul_2": guest}, LATER)
        group = await tx.sessions.get("sess_1")
        assert group == replace(session(), people=("林", "ann"), souls={"soul_2": guest}, updated_at=LATER)
        await tx.sessions.gather("sess_1", [], {}, LATER + 1)
        alone = await tx.sessions.get("sess_1")
        with pytest.raises(NotFound, match="no session 'nowhere'"):
            await tx.sessions.gather("nowhere", [], {}, NOW)
    assert (group.audience, group.is_group) == (("user_1", "林", "ann"), True)
    assert (alone.audience, alone.is_group) == (("user_1",), False)
    assert (group.snapshot_of("soul_2"), group.snapshot_of("soul_1")) == (guest, snapshot())
    assert replace(group, people=()).is_group and replace(group, souls={}).is_group


async def test_the_guard_remembers_each_person_apart(home):
    anns = {"hints": {"tea": {"value": "green", "count": 1, "evidence": ["绿茶"], "age": 0}}, "pending": None}
    async with home.write() as tx:
        await tx.sessions.set_guard("sess_1", {"ann": anns})
        kept = await tx.sessions.get("sess_1")
        await tx.sessions.set_guard("sess_1", {**kept.guard, "bob": {"hints": {}, "pending": None, "proposed_to": 7}})
        kept = await tx.sessions.get("sess_1")
    assert kept.guard_of("ann") == anns
    assert kept.guard_of("bob")["proposed_to"] == 7
    assert kept.guard_of("a stranger") == {"hints": {}, "pending": None}


async def traces(tx, n):
    session_id = f"sess_{n}"
    return [
        await tx.sessions.find(session_id),
        await tx.messages.page(session_id),
        await tx.turns.find(session_id, "in_1"),
        await tx.outbox.all(session_id),
    ]


def names(sessions):
    return [one.session_id for one in sessions]
