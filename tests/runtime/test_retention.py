"""What nobody needs is removed, on both databases, and what somebody needs never is. The clock is the test's own."""

import asyncio
import logging

import pytest

from soulgraph.errors import StoreUnavailable
from soulgraph.runtime import retention
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.retention import Retention
from soulgraph.server import open_services
from soulgraph.settings import Settings
from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import NOW, session, soul

DAY = 86_400.0
WEEK = {"job_days": 7}


@pytest.fixture
async def home(stores):
    """`soul_1` with `sess_1`."""
    async with stores.write() as tx:
        await tx.souls.add(soul())
        await tx.sessions.add(session())
    return stores


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(retention, "_PAUSE_S", 0)


async def tidy(stores, now=NOW, **limits):
    await Retention(stores, lambda: now, **limits).tidy()


async def add_job(stores, turn_id, at, status):
    """Each in a session of its own, so that none waits for another."""
    async with stores.write() as tx:
        await tx.outbox.add("afterglow", "soul_1", turn_id, turn_id, {}, at)
        if status != "pending":
            job = await tx.outbox.claim(at, at)
            assert job.turn_id == turn_id
            ends = {"done": tx.outbox.done, "dead": lambda job: tx.outbox.mark_dead(job, "unusable")}
            if status in ends:
                await ends[status](job)
            else:
                await tx.outbox.extend(job, at + 1)


async def jobs_of(stores):
    async with stores.read() as tx:
        return [job.turn_id for job in reversed(await tx.outbox.page(None, 10_000))]


async def test_jobs_done_long_ago_go_and_all_that_are_newer_or_not_done_stay(home, caplog):
    caplog.set_level(logging.INFO, "soulgraph")
    await add_job(home, "old", NOW - 8 * DAY, "done")
    await add_job(home, "new", NOW - 6 * DAY, "done")
    for status in ("dead", "running", "pending"):
        await add_job(home, status, NOW - 8 * DAY, status)
    for _ in range(2):
        await tidy(home, **WEEK)
        assert await jobs_of(home) == ["new", "dead", "running", "pending"]
    assert [record.message for record in caplog.records] == ["retention: removed 1 finished jobs"]


async def test_a_job_counts_from_when_it_was_last_worked_on_not_from_its_turn(home):
    async with home.write() as tx:
        await tx.outbox.add("afterglow", "soul_1", "sess_1", "put off", {}, NOW - 30 * DAY)
        await tx.outbox.done(await tx.outbox.claim(NOW - DAY, NOW - DAY))
    await tidy(home, **WEEK)
    assert await jobs_of(home) == ["put off"]


async def test_with_zero_everything_is_kept_for_ever(home):
    await add_job(home, "old", NOW - 800 * DAY, "done")
    await tidy(home, job_days=0)
    assert await jobs_of(home) == ["old"]


async def test_many_are_removed_in_short_transactions(home, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 10)
    for n in range(35):
        await add_job(home, f"turn_{n}", NOW - 8 * DAY, "done")
    batches, write = [], Stores.write

    def watched(stores):
        batches.append(stores)
        return write(stores)

    monkeypatch.setattr(Stores, "write", watched)
    await tidy(home, **WEEK)
    assert await jobs_of(home) == []
    assert len(batches) == 4


async def test_a_run_that_was_killed_between_batches_harms_nothing_and_the_next_ends_it(home, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 4)
    for n in range(20):
        await add_job(home, f"turn_{n}", NOW - 8 * DAY, "done")
    pauses = 0

    async def killed(_seconds):
        nonlocal pauses
        pauses += 1
        if pauses == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(retention.asyncio, "sleep", killed)
        with pytest.raises(KeyboardInterrupt):
            await tidy(home, **WEEK)
    assert len(await jobs_of(home)) == 8
    await tidy(home, **WEEK)
    assert await jobs_of(home) == []


async def test_any_number_of_servers_may_tidy_at_once(home, database_url, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 5)
    for n in range(60):
        await add_job(home, f"turn_{n}", NOW - 8 * DAY, "done")
    async with Database.open(database_url) as second, asyncio.timeout(20):
        await asyncio.gather(*(tidy(one, **WEEK) for one in [home, Stores(second)] * 2))
    await tidy(home, **WEEK)
    assert await jobs_of(home) == []


async def test_a_database_that_is_away_is_asked_again(home, monkeypatch, caplog):
    monkeypatch.setattr(retention, "PERIOD_S", 0.01)
    await add_job(home, "old", NOW - 8 * DAY, "done")
    outages, write = [1, 2], Stores.write

    def away(stores):
        if outages:
            raise StoreUnavailable(f"the database does not answer, {outages.pop()}")
        return write(stores)

    monkeypatch.setattr(Stores, "write", away)
    async with asyncio.timeout(5), Retention(home, lambda: NOW, job_days=7).running():
        while await jobs_of(home):
            await asyncio.sleep(0.01)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


async def test_after_fifty_turns_the_next_server_still_knows_the_mode(stores, database_url, tmp_path):
    settings = Settings(data_dir=tmp_path, database_url=database_url, mqtt_url="none", _env_file=None)

    async def say(words):
        request = TurnRequest(words, "u", soul_id="soul_1", session_id="talk")
        return await (await services.runner.start(request)).answer()

    async with stores.write() as tx:
        await tx.souls.add(soul(user_id="u"))
    async with open_services(settings, lambda: NOW) as services:
        for n in range(49):
            await say(f"we had tea, for the {n}th time")
        await say("切换到理性模式")
        assert (await say("那我们继续聊"))["persona"]["mode"] == "rational"
    async with open_services(settings, lambda: NOW) as services:
        assert (await say("那我们继续聊"))["persona"]["mode"] == "rational"
    async with stores.read() as tx:
        assert (await tx.sessions.get("talk")).turn == 52


async def test_a_server_tidies_when_it_starts(stores, database_url, tmp_path):
    async with stores.write() as tx:
        await tx.souls.add(soul())
    await add_job(stores, "old", NOW - 8 * DAY, "done")
    settings = Settings(data_dir=tmp_path, database_url=database_url, mqtt_url="none", _env_file=None)
    async with open_services(settings, lambda: NOW), asyncio.timeout(5):
        while await jobs_of(stores):
            await asyncio.sleep(0.01)
