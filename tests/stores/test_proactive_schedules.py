"""ProactiveSchedules: a soul is due for one server at a time, and what it has said today is counted."""

import asyncio

from soulgraph.stores.database import Database
from soulgraph.stores.records import ProactiveSchedule
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import NOW, soul

LATER = NOW + 3600


ONE, TWO = ("soul_1", "user_1"), ("soul_2", "user_1")


async def lives(stores, *pairs):
    async with stores.read() as tx:
        found = await tx.proactive_schedules.of(pairs or [ONE])
    return sorted(found, key=lambda life: (life.soul_id, life.user_id))


async def test_a_scheduled_soul_is_due_then_and_one_that_is_gone_is_left_out(home):
    assert await lives(home) == []
    async with home.write() as tx:
        await tx.proactive_schedules.schedule({})
        await tx.proactive_schedules.schedule({ONE: NOW, ("nobody", "user_1"): NOW})
    assert await lives(home, ONE, ("nobody", "user_1")) == [ProactiveSchedule(*ONE, NOW, "", 0)]


async def test_scheduling_again_moves_the_time_and_keeps_the_count(home):
    async with home.write() as tx:
        await tx.proactive_schedules.schedule({ONE: NOW})
        await tx.proactive_schedules.spoke(*ONE, "2027-01-15")
        await tx.proactive_schedules.schedule({ONE: LATER})
    assert await lives(home) == [ProactiveSchedule(*ONE, LATER, "2027-01-15", 1)]


async def test_a_claim_takes_who_is_due_and_moves_the_time(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        await tx.proactive_schedules.schedule({ONE: NOW, TWO: NOW + 1})
    following = {ONE: LATER, TWO: LATER}
    async with home.write() as tx:
        assert await tx.proactive_schedules.claim(following, NOW) == [ProactiveSchedule(*ONE, NOW, "", 0)]
        assert await tx.proactive_schedules.claim(following, NOW) == []
        assert await tx.proactive_schedules.claim({}, LATER) == []
    assert [life.due_at for life in await lives(home, ONE, TWO)] == [LATER, NOW + 1]


async def test_words_are_counted_by_the_day(home):
    async with home.write() as tx:
        await tx.proactive_schedules.schedule({ONE: NOW})
        for day in ("2027-01-15", "2027-01-15", "2027-01-16"):
            await tx.proactive_schedules.spoke(*ONE, day)
            [life] = await tx.proactive_schedules.of([ONE])
            assert life.day == day
    assert (life.spoken_on("2027-01-16"), life.spoken_on("2027-01-15")) == (1, 0)


async def test_two_servers_never_take_one_soul_twice(home, database_url):
    pairs = [(f"due_{n}", "user_1") for n in range(20)]
    async with home.write() as tx:
        for soul_id, _ in pairs:
            await tx.souls.add(soul(soul_id))
        await tx.proactive_schedules.schedule(dict.fromkeys(pairs, NOW))

    async def server(stores):
        async with stores.write() as tx:
            claimed = await tx.proactive_schedules.claim(dict.fromkeys(pairs, LATER), NOW)
            await asyncio.sleep(0.05)  # the other one asks while this transaction is open
        return [(life.soul_id, life.user_id) for life in claimed]

    async with Database.open(database_url) as database:
        taken = await asyncio.gather(server(home), server(Stores(database)))
    assert sorted(taken[0] + taken[1]) == sorted(pairs)
    assert {life.due_at for life in await lives(home, *pairs)} == {LATER}


async def test_a_soul_has_a_schedule_for_each_person(home):
    ann, lin = ("soul_1", "ann"), ("soul_1", "林")
    async with home.write() as tx:
        await tx.proactive_schedules.schedule({ann: NOW, lin: NOW, ONE: LATER})
        await tx.proactive_schedules.spoke(*ann, "2027-01-15")
        following = {ann: LATER, ONE: LATER, ("soul_1", "a stranger"): LATER}
        assert await tx.proactive_schedules.claim(following, NOW) == [ProactiveSchedule(*ann, NOW, "2027-01-15", 1)]
    assert await lives(home, ann, lin, ONE, ("soul_1", "a stranger"), ("ann", "soul_1")) == [
        ProactiveSchedule(*ann, LATER, "2027-01-15", 1),
        ProactiveSchedule(*ONE, LATER, "", 0),
        ProactiveSchedule(*lin, NOW, "", 0),
    ]


async def test_a_pair_is_not_made_of_two_others(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        await tx.proactive_schedules.schedule({("soul_1", "ann"): NOW, ("soul_2", "bob"): NOW})
    assert await lives(home, ("soul_1", "bob"), ("soul_2", "ann")) == []


async def test_a_crowd_that_no_statement_could_name_at_once_is_found_and_claimed(home):
    crowd = {(f"nobody_{n}", "user_1"): LATER for n in range(20_000)} | {ONE: LATER}
    async with home.write() as tx:
        await tx.proactive_schedules.schedule({ONE: NOW})
        assert [one.soul_id for one in await tx.proactive_schedules.of(crowd)] == ["soul_1"]
        assert [one.soul_id for one in await tx.proactive_schedules.claim(crowd, NOW)] == ["soul_1"]
