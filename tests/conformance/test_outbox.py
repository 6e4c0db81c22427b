"""The outbox: jobs in the order they were written, each kind once per turn."""

import pytest
from sqlalchemy.exc import IntegrityError

from soulgraph.stores.records import Job
from soulgraph.tests.conformance.samples import ANY_JSON, NOW


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


async def test_a_turn_has_one_job_of_a_kind(home):
    async with home.write() as tx:
        await tx.outbox.add("reflect", "soul_1", "sess_1", "turn_1", {}, NOW)
    with pytest.raises(IntegrityError):
        async with home.write() as tx:
            await tx.outbox.add("reflect", "soul_1", "sess_1", "turn_1", {}, NOW)
