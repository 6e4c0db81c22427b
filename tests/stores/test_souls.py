"""Souls: kept field for field, one name per user, and gone with everything that hung on them."""

from dataclasses import replace

import pytest
from sqlalchemy import text

from soulgraph.errors import Conflict, InvalidInput, NotFound
from soulgraph.soul.dynamics import born
from soulgraph.soul.personality import traits_of
from soulgraph.tests.stores.samples import ANY_JSON, NOW, live, session, soul

LATER = NOW + 60
MOVED = replace(soul().emotion_state, p=-0.3, boredom=0.2)


async def test_a_soul_comes_back_as_it_was_added(stores):
    plain = soul()
    rich = soul(
        "soul_2",
        name="小满 🌾",
        character_id="xiaoman",
        personality_vector=traits_of("ESTP")._replace(empathy=0.1 + 0.2),
        emotion_state=replace(born(traits_of("ESTP"), NOW), p=0.1 + 0.2, lock_until=NOW + 0.125),
        dynamic_profile=ANY_JSON,
        inner_state="想去海边。\n" * 1000,
        turns=2**31 - 1,
    )
    async with stores.write() as tx:
        await tx.souls.add(plain)
        await tx.souls.add(rich)
    async with stores.read() as tx:
        assert await tx.souls.get("soul_1") == plain
        assert await tx.souls.get("soul_2") == rich


async def test_a_locked_soul_is_the_stored_one(home):
    async with home.write() as tx:
        assert await tx.souls.lock("soul_1") == soul()


async def test_a_user_has_one_soul_of_a_name(stores):
    async with stores.write() as tx:
        await tx.souls.add(soul(name="小满"))
    with pytest.raises(Conflict, match="小满") as conflict:
        async with stores.write() as tx:
            await tx.souls.add(soul("soul_2", name="小满"))
    assert conflict.value.problem_code == "soul_exists"
    async with stores.write() as tx:
        await tx.souls.add(soul("soul_3", name="小满", user_id="user_2"))
        assert [one.soul_id for one in await tx.souls.all()] == ["soul_1", "soul_3"]


async def test_a_soul_cannot_take_the_name_of_another(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2", name="taken"))
    with pytest.raises(Conflict) as conflict:
        async with home.write() as tx:
            await tx.souls.rename("soul_1", "taken", LATER)
    assert conflict.value.problem_code == "soul_exists"


async def test_a_change_touches_its_field_and_raises_the_version(home):
    expected = soul()
    async with home.write() as tx:
        souls = tx.souls
        for change, fields in (
            (souls.rename("soul_1", "阿满", LATER), {"name": "阿满"}),
            (souls.rename("soul_1", "阿满", LATER), {}),
            (souls.feel("soul_1", MOVED, 7, LATER), {"emotion_state": MOVED, "turns": 7}),
            (souls.grow("soul_1", ANY_JSON, LATER), {"dynamic_profile": ANY_JSON}),
        ):
            await change
            expected = replace(expected, **fields, version=expected.version + 1, updated_at=LATER)
            assert await souls.get("soul_1") == expected


async def test_an_unknown_soul_is_not_found(home):
    async with home.write() as tx:
        souls = tx.souls
        for use in (
            souls.get("nobody"),
            souls.lock("nobody"),
            souls.rename("nobody", "name", NOW),
            souls.feel("nobody", MOVED, 1, NOW),
            souls.grow("nobody", {}, NOW),
            souls.delete("nobody"),
        ):
            with pytest.raises(NotFound, match="no soul 'nobody'"):
                await use


async def test_souls_are_listed_oldest_first_and_by_user(stores):
    async with stores.write() as tx:
        await tx.souls.add(soul("c", created_at=NOW))
        await tx.souls.add(soul("b", created_at=NOW + 1, user_id="user_2"))
        await tx.souls.add(soul("a", created_at=NOW + 1))
    async with stores.read() as tx:
        assert [one.soul_id for one in await tx.souls.all()] == ["c", "a", "b"]
        assert [one.soul_id for one in await tx.souls.all("user_1")] == ["c", "a"]
        assert await tx.souls.all("user_3") == []


async def test_a_deleted_soul_takes_along_all_that_hung_on_it(stores):
    await live(stores, 1)
    await live(stores, 2)
    async with stores.write() as tx:
        await tx.souls.delete("soul_1")
    async with stores.read() as tx:
        assert await traces(tx, 1) == [0] * 8
        assert await traces(tx, 2) == [1] * 8


async def test_a_terminal_outlives_its_soul_unbound(stores):
    await live(stores)
    async with stores.write() as tx:
        await tx.souls.delete("soul_1")
    async with stores.read() as tx:
        terminal = await tx.terminals.find("term_1")
    assert (terminal.soul_id, terminal.catalog_version, terminal.intent_catalog) == (None, 3, [{"id": "wave"}])


async def test_a_soul_is_deleted_with_all_its_sessions(home):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
        await tx.souls.delete("soul_1")
        assert await tx.sessions.all() == []


async def traces(tx, n):
    """How many rows of a life are left, table by table."""
    soul_id, session_id = f"soul_{n}", f"sess_{n}"
    rows = [
        [one for one in await tx.souls.all() if one.soul_id == soul_id],
        await tx.sessions.all(soul_id),
        await tx.messages.page(session_id),
        [turn for turn in [await tx.turns.find(session_id, "in_1")] if turn],
        await tx.preferences.all(soul_id),
        await tx.slots.all(soul_id),
        await tx.outbox.all(session_id),
        await tx.history.between(soul_id, 0, NOW),
    ]
    return [len(each) for each in rows]


async def test_a_soul_whose_state_was_spoilt_from_outside_is_named_and_stops_no_tick_of_others(home, caplog):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
    async with home.database.write() as connection:
        await connection.execute(text("UPDATE souls SET emotion_state = '{}' WHERE soul_id = 'soul_1'"))
    async with home.write() as tx:
        with pytest.raises(InvalidInput, match="the stored state of soul soul_1 cannot be read"):
            await tx.souls.get("soul_1")
        claimed = await tx.souls.claim(["soul_1", "soul_2"], NOW, 3.0)
    assert [row.soul_id for row in claimed] == ["soul_2"]
    assert "soul soul_1" in caplog.text
