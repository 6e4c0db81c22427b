"""The outbox: jobs in the order they were written, each kind once per turn, each claimed by one at a time."""

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy.exc import IntegrityError

from soulgraph.errors import Conflict, NotFound
from soulgraph.stores.database import Database
from soulgraph.stores.records import Job
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import ANY_JSON, NOW

LEASE = 30.0


async def add(home, *turns, session_id="sess_1", now=NOW):
    async with home.write() as tx:
        for turn_id in turns:
            await tx.outbox.add("afterglow", "soul_1", session_id, turn_id, {}, now)


async def claim(home, now=NOW) -> Job | None:
    async with home.write() as tx:
        return await tx.outbox.claim(now, now + LEASE)


async def test_a_job_is_pending_and_due_at_once(home):
    async with home.write() as tx:
        await tx.outbox.add("reflect", "soul_1", "sess_1", "turn_1", ANY_JSON, NOW)
    async with home.read() as tx:
        (job,) = await tx.outbox.all("sess_1")
    assert job == Job(job.job_id, "reflect", "soul_1", "sess_1", "turn_1", ANY_JSON, "pending", 0, NOW, NOW)


async def test_jobs_of_a_session_keep_their_order(home):
    async with home.write() as tx:
        for turn_id, kind in [("turn_2", "reflect"), ("turn_1", "reflect"), ("turn_1", "archive")]:
            await tx.outbox.add(kind, "soul_1", "sess_1", turn_id, {}, NOW)
        await tx.outbox.add("reflect", "soul_1", "sess_2", "turn_3", {}, NOW)
    async with home.read() as tx:
        jobs = [(job.turn_id, job.kind) for job in await tx.outbox.all("sess_1")]
    assert jobs == [("turn_2", "reflect"), ("turn_1", "reflect"), ("turn_1", "archive")]


async def test_a_job_of_which_somebody_takes_care_is_due_later(home):
    async with home.write() as tx:
        await tx.outbox.add("delivery", "soul_1", "sess_1", "life_1", {}, NOW, run_at=NOW + 10)
    assert await claim(home, NOW + 9) is None
    assert (await claim(home, NOW + 10)).turn_id == "life_1"


async def test_jobs_of_another_kind_are_not_waited_for(home):
    await add(home, "turn_1")
    async with home.write() as tx:
        await tx.outbox.add("delivery", "soul_1", "sess_1", "life_1", {}, NOW)
    first, second = await claim(home), await claim(home)
    assert (first.turn_id, second.turn_id) == ("turn_1", "life_1")


async def test_a_turn_has_one_job_of_a_kind(home):
    await add(home, "turn_1")
    with pytest.raises(IntegrityError):
        await add(home, "turn_1")


async def test_a_session_has_one_job_running_and_it_is_the_oldest(home):
    await add(home, "turn_1", "turn_2")
    await add(home, "turn_3", session_id="sess_2")
    first, other = await claim(home), await claim(home)
    assert (first.turn_id, first.status, first.attempts, first.run_at) == ("turn_1", "running", 1, NOW + LEASE)
    assert other.turn_id == "turn_3"
    assert await claim(home) is None
    async with home.write() as tx:
        assert await tx.outbox.done(first)
    assert (await claim(home)).turn_id == "turn_2"


async def test_who_dies_loses_its_claim_when_the_lease_has_run_out(home):
    await add(home, "turn_1")
    lost = await claim(home)
    assert await claim(home, NOW + LEASE - 1) is None
    found = await claim(home, NOW + LEASE)
    assert (found.job_id, found.attempts) == (lost.job_id, 2)
    async with home.write() as tx:
        assert not await tx.outbox.done(lost)
        assert not await tx.outbox.extend(lost, NOW + 9 * LEASE)
        assert await tx.outbox.extend(found, NOW + 9 * LEASE)
    assert await claim(home, NOW + 3 * LEASE) is None


async def test_what_failed_waits_and_what_could_not_begin_does_not_count(home):
    await add(home, "turn_1", "turn_2")
    async with home.write() as tx:
        await tx.outbox.reschedule(await tx.outbox.claim(NOW, NOW + LEASE), NOW + 100, "the model is away")
    assert await claim(home, NOW + 99) is None, "the second one waits for the first"
    async with home.write() as tx:
        again = await tx.outbox.claim(NOW + 100, NOW + 130)
        assert (again.turn_id, again.error, again.attempts) == ("turn_1", "the model is away", 2)
        await tx.outbox.reschedule(again, NOW + 200, "", counted=False)
    assert (await claim(home, NOW + 200)).attempts == 2


async def test_a_dead_job_holds_nobody_up_and_can_be_retried(home):
    await add(home, "turn_1", "turn_2")
    async with home.write() as tx:
        dead = await tx.outbox.claim(NOW, NOW + LEASE)
        await tx.outbox.mark_dead(dead, "unusable")
    assert (await claim(home)).turn_id == "turn_2"
    async with home.write() as tx:
        assert [job.error for job in await tx.outbox.page("dead", 10)] == ["unusable"]
        assert await tx.outbox.counts() == {"dead": 1, "running": 1}
        retried = await tx.outbox.retry(dead.job_id, NOW + 1)
        assert (retried.status, retried.attempts, retried.run_at) == ("pending", 0, NOW + 1)
        with pytest.raises(Conflict):
            await tx.outbox.retry(dead.job_id, NOW)
        with pytest.raises(NotFound):
            await tx.outbox.retry(10**6, NOW)


async def test_pages_go_from_the_newest_to_the_oldest(home):
    await add(home, "turn_1", "turn_2", "turn_3")
    async with home.read() as tx:
        page = await tx.outbox.page(None, 2)
        older = await tx.outbox.page("pending", 5, before=page[-1].job_id)
    assert [job.turn_id for job in (*page, *older)] == ["turn_3", "turn_2", "turn_1"]


async def test_only_old_work_that_is_done_is_forgotten(home):
    await add(home, "turn_1")
    await add(home, "turn_2", "turn_3", now=NOW + 10)
    async with home.write() as tx:
        await tx.outbox.done(await tx.outbox.claim(NOW, NOW + 1))
        await tx.outbox.done(await tx.outbox.claim(NOW + 10, NOW + LEASE))
        assert await tx.outbox.prune(NOW + 5, 10) == 1
        assert [job.turn_id for job in await tx.outbox.all("sess_1")] == ["turn_2", "turn_3"]


async def test_no_more_jobs_are_forgotten_at_once_than_was_said(home):
    await add(home, "turn_1", "turn_2", "turn_3")
    async with home.write() as tx:
        for _ in range(3):
            await tx.outbox.done(await tx.outbox.claim(NOW, NOW))
        assert [await tx.outbox.prune(NOW + 1, 2) for _ in range(3)] == [2, 1, 0]


async def test_servers_that_claim_at_once_never_get_the_same_job(home, database_url):
    async with home.write() as tx:
        for n in range(40):
            await tx.outbox.add("afterglow", "soul_1", f"sess_{n}", f"turn_{n}", {}, NOW)
    async with Database.open(database_url) as second:
        claims = [claim(one) for _ in range(20) for one in (home, Stores(second))]
        jobs = [job for job in await asyncio.gather(*claims) if job]
    assert len({job.job_id for job in jobs}) == len(jobs) > 20


async def test_what_is_to_be_done_can_be_replaced_and_nothing_else_of_the_job_changes(home):
    await add(home, "turn_1", "turn_2")
    claimed = await claim(home)
    async with home.write() as tx:
        await tx.outbox.amend("turn_1", {"archive_now": True})
        amended, other = await tx.outbox.all("sess_1")
    assert (amended, other.payload) == (replace(claimed, payload={"archive_now": True}), {})
