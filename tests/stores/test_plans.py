"""Plans: kept as they were put, each claimed by one server at a time, said once, and shown to their person alone."""

import asyncio
from dataclasses import replace

import pytest

from soulgraph.errors import NotFound
from soulgraph.soul.people import EVERYONE
from soulgraph.soul.plan_times import GRACE_S
from soulgraph.stores.database import Database
from soulgraph.stores.plans import LEASE_S
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import NOW, plan, soul

DUE = NOW + 60
PAIR = ("soul_1", "user_1")


async def put(home, *plans):
    async with home.write() as tx:
        for one in plans:
            await tx.plans.put(one)


async def claim(home, now=DUE, pairs=(PAIR,), limit=10):
    async with home.write() as tx:
        return await tx.plans.claim(pairs, now, limit)


async def stored(home, plan_id="plan_1"):
    async with home.read() as tx:
        return await tx.plans.get("soul_1", "user_1", plan_id)


async def test_a_plan_comes_back_as_it_was_put(home):
    kept = plan(content="吃药 💊", evidence=[1, 2], shared_with=("bob",), due=None, ends=None, next_at=None)
    await put(home, kept)
    assert await stored(home) == kept


async def test_plans_are_listed_by_when_they_are_due(home):
    await put(
        home, plan("b", due=NOW + 2), plan("a", due=NOW + 1), plan("never", due=None), plan("done", status="done")
    )
    async with home.read() as tx:
        assert [one.plan_id for one in await tx.plans.page("soul_1", "user_1", ["open"])] == ["a", "b", "never"]
        assert [one.plan_id for one in await tx.plans.page("soul_1", None, since=NOW + 2, until=NOW + 3)] == ["b"]
        assert await tx.plans.page("soul_1", "somebody else") == []


async def test_the_next_one_due_is_known_without_reading_any(home):
    async with home.read() as tx:
        assert await tx.plans.next_due() is None
    await put(home, plan("a", next_at=NOW + 9), plan("b", next_at=NOW + 5), plan("c", next_at=None))
    async with home.read() as tx:
        assert await tx.plans.next_due() == NOW + 5


async def test_what_is_due_is_claimed_and_what_is_not_waits(home):
    await put(home, plan(), plan("later", next_at=DUE + 1), plan("of another", user_id="bob"))
    (claimed,) = await claim(home)
    assert (claimed.plan_id, claimed.status, claimed.next_at) == ("plan_1", "delivering", DUE + LEASE_S)
    assert claimed.delivery_id.startswith("life_")
    assert await claim(home) == []


async def test_what_is_due_is_claimed_among_a_crowd_that_no_statement_could_name_at_once(home):
    await put(home, plan("a"), plan("b"), plan("c", user_id="zoe"))
    crowd = [*[(f"nobody_{n}", "user_1") for n in range(20_000)], PAIR, ("soul_1", "zoe")]
    assert len(await claim(home, pairs=crowd, limit=2)) == 2
    assert len(await claim(home, pairs=crowd, limit=2)) == 1


async def test_a_claim_whose_server_died_can_be_claimed_again_and_the_dead_one_changes_nothing(home):
    await put(home, plan())
    (lost,) = await claim(home)
    assert await claim(home, DUE + LEASE_S - 1) == []
    (found,) = await claim(home, DUE + LEASE_S)
    assert found.delivery_id != lost.delivery_id
    async with home.write() as tx:
        assert not await tx.plans.said(lost, "sess_1", DUE)
        assert await tx.plans.said(found, "sess_1", DUE)
        assert not await tx.plans.said(found, "sess_1", DUE)


async def test_what_was_said_but_not_sent_is_claimed_with_the_same_id(home):
    await put(home, plan())
    (claimed,) = await claim(home)
    async with home.write() as tx:
        await tx.plans.said(claimed, "sess_1", DUE)
    (again,) = await claim(home, DUE + LEASE_S)
    assert (again.status, again.delivery_id, again.delivered_at) == ("delivered", claimed.delivery_id, DUE)
    async with home.write() as tx:
        assert await tx.plans.sent(again, None)
        assert not await tx.plans.release(again, NOW)
    assert await claim(home, DUE + 9 * LEASE_S) == []
    assert (await stored(home)).next_at is None


async def test_one_that_recurs_is_open_again_at_its_next_time_and_only_once(home):
    await put(home, plan(recurs="daily"))
    (claimed,) = await claim(home)
    following = replace(claimed, due=DUE + 86400, next_at=DUE + 86400)
    async with home.write() as tx:
        await tx.plans.said(claimed, "sess_1", DUE)
        assert await tx.plans.sent(claimed, following)
        assert not await tx.plans.sent(claimed, replace(following, due=DUE + 2 * 86400))
    kept = await stored(home)
    assert (kept.status, kept.due, kept.next_at) == ("open", DUE + 86400, DUE + 86400)


async def test_a_lease_from_before_the_clock_was_put_back_counts_as_ended(home):
    await put(home, plan(), plan("open", next_at=DUE))
    await claim(home)
    an_hour_ago = DUE - 3600
    assert {one.plan_id for one in await claim(home, an_hour_ago)} == {"plan_1", "open"}
    await put(home, plan("future", next_at=DUE + 10))
    assert await claim(home, an_hour_ago) == []


async def test_two_servers_claim_different_plans(home, database_url):
    await put(home, *(plan(f"p{n}") for n in range(12)))
    async with Database.open(database_url) as other:
        servers = [home, Stores(other)]
        rounds = [await asyncio.gather(*(claim(server, limit=3) for server in servers)) for _ in range(4)]
    claimed = [one.plan_id for found in rounds for both in found for one in both]
    assert sorted(claimed) == sorted({f"p{n}" for n in range(12)})


async def test_what_could_not_be_said_for_too_long_is_missed(home):
    await put(home, plan(), plan("daily", recurs="daily"))
    async with home.write() as tx:
        await tx.plans.miss(DUE + GRACE_S + 1)
    assert (await stored(home)).status == "missed"
    assert (await stored(home, "daily")).status == "open"


async def test_a_turn_is_told_of_the_speakers_plans_and_of_those_that_all_may_know(home):
    await put(
        home,
        plan("mine"),
        plan("over", status="delivered"),
        plan("bob's", user_id="bob"),
        plan("told me", user_id="bob", shared_with=("user_1",)),
        plan("told all", user_id="bob", shared_with=(EVERYONE,)),
    )
    async with home.read() as tx:
        alone = {one.plan_id for one in await tx.plans.active("soul_1", ["user_1"], "user_1")}
        group = {one.plan_id for one in await tx.plans.active("soul_1", ["user_1", "eve"], "user_1")}
    assert alone == {"mine", "told me", "told all"}
    assert group == {"told all"}


async def test_what_was_said_in_messages_that_were_taken_back_is_forgotten(home):
    await put(home, plan(evidence=[5]), plan("before", evidence=[4, 5]), plan("said", evidence=[5], status="delivered"))
    async with home.write() as tx:
        await tx.plans.forget("soul_1", [5, 6])
    async with home.read() as tx:
        assert {one.plan_id for one in await tx.plans.all("soul_1")} == {"before", "said"}


async def test_what_is_over_is_asked_about_once(home):
    await put(home, plan(kind="plan", follow_up_at=DUE), plan("other", kind="plan", follow_up_at=DUE + 1))
    async with home.write() as tx:
        (over,) = await tx.plans.to_follow_up("soul_1", "user_1", DUE)
        assert await tx.plans.followed_up(over, DUE)
        assert not await tx.plans.followed_up(over, DUE)
        assert await tx.plans.to_follow_up("soul_1", "user_1", DUE) == []
        assert await tx.plans.to_follow_up("soul_1", "bob", DUE + 2) == []


async def test_plans_go_with_their_soul(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
    await put(home, plan(), plan(soul_id="soul_2"))
    async with home.write() as tx:
        await tx.souls.delete("soul_2")
        assert len(await tx.plans.all("soul_1")) == 1
        assert await tx.plans.all("soul_2") == []
        with pytest.raises(NotFound, match="no plan"):
            await tx.plans.get("soul_1", "bob", "plan_1")
