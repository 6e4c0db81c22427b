"""What nobody needs is removed, on both databases, and what somebody needs never is. The clock is the test's own."""

import asyncio
import logging

import pytest
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from sqlalchemy import text
from typing_extensions import TypedDict

from soulgraph import open_souls, soul_node
from soulgraph.errors import StoreUnavailable
from soulgraph.runtime import retention
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.retention import Retention
from soulgraph.server import open_services
from soulgraph.settings import Settings
from soulgraph.stores.checkpoints import open_checkpointer
from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests.runtime.test_turn_runner import ask_owner, calling, turn
from soulgraph.tests.stores.samples import NOW, session, soul
from soulgraph.tests.stores.test_checkpoints import listen
from soulgraph.tests.stub_openai import StubOpenAI

DAY = 86_400.0
WEEK = {"job_days": 7}
KEPT = 3


@pytest.fixture
async def home(stores):
    """`soul_1` with `sess_1`, which was used now, and `idle`, which nobody has used for 40 days."""
    async with stores.write() as tx:
        await tx.souls.add(soul())
        await tx.sessions.add(session())
        await tx.sessions.add(session("idle", updated_at=NOW - 40 * DAY))
    return stores


@pytest.fixture
async def saver(home, database_url):
    async with open_checkpointer(database_url) as opened:
        yield opened


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


async def counted(stores, table, thread_id="sess_1"):
    async with stores.database.read() as connection:
        count = text(f"SELECT count(*) FROM {table} WHERE thread_id = :thread_id")
        return (await connection.execute(count, {"thread_id": thread_id})).scalar()


async def checkpoints(stores, thread_id="sess_1"):
    return await counted(stores, "checkpoints", thread_id)


async def test_jobs_done_long_ago_go_and_all_that_are_newer_or_not_done_stay(home, caplog):
    caplog.set_level(logging.INFO, "soulgraph")
    await add_job(home, "old", NOW - 8 * DAY, "done")
    await add_job(home, "new", NOW - 6 * DAY, "done")
    for status in ("dead", "running", "pending"):
        await add_job(home, status, NOW - 8 * DAY, status)
    for _ in range(2):
        await tidy(home, **WEEK)
        assert await jobs_of(home) == ["new", "dead", "running", "pending"]
    assert [record.message for record in caplog.records] == ["retention: removed 1 finished jobs and 0 old checkpoints"]


async def test_a_job_counts_from_when_it_was_last_worked_on_not_from_its_turn(home):
    async with home.write() as tx:
        await tx.outbox.add("afterglow", "soul_1", "sess_1", "put off", {}, NOW - 30 * DAY)
        await tx.outbox.done(await tx.outbox.claim(NOW - DAY, NOW - DAY))
    await tidy(home, **WEEK)
    assert await jobs_of(home) == ["put off"]


async def test_with_zeros_everything_is_kept_for_ever(home, saver):
    await add_job(home, "old", NOW - 800 * DAY, "done")
    await listen(saver, "idle", "hello")
    before = await checkpoints(home, "idle")
    await tidy(home, job_days=0, checkpoints_kept=0, checkpoint_days=0)
    assert (await jobs_of(home), await checkpoints(home, "idle")) == (["old"], before)


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


async def test_only_the_newest_checkpoints_of_a_session_stay_and_it_goes_on_from_them(home, saver):
    for n in range(20):
        await listen(saver, "sess_1", n)
    await tidy(home, checkpoints_kept=KEPT)
    assert await checkpoints(home) == KEPT
    assert await listen(saver, "sess_1", "again") == [*range(20), "again"]


async def test_the_values_that_no_checkpoint_needs_go_with_them(home, saver, database_url):
    for n in range(20):
        await listen(saver, "sess_1", n)
    tables = ("checkpoint_writes", "checkpoint_blobs") if database_url.startswith("postgres") else ("writes",)
    before = [await counted(home, table) for table in tables]
    await tidy(home, checkpoints_kept=1)
    for table, count in zip(tables, before, strict=True):
        assert await counted(home, table) < count / 4, table


async def test_a_session_that_nobody_used_for_long_has_no_checkpoints(home, saver):
    for session_id in ("sess_1", "idle"):
        await listen(saver, session_id, "hello")
    await tidy(home, checkpoint_days=30)
    assert (await checkpoints(home) > 0, await checkpoints(home, "idle")) == (True, 0)


async def test_more_sessions_than_a_page_has_are_all_visited(home, saver, monkeypatch):
    monkeypatch.setattr(retention, "_PAGE", 2)
    async with home.write() as tx:
        for n in range(5):
            await tx.sessions.add(session(f"other_{n}"))
    for n in range(5):
        await listen(saver, f"other_{n}", "one")
        await listen(saver, f"other_{n}", "two")
    await tidy(home, checkpoints_kept=1)
    assert [await checkpoints(home, f"other_{n}") for n in range(5)] == [1] * 5


class Door(TypedDict, total=False):
    agreed: str


async def knock(saver, thread_id, command):
    """A graph whose subgraph asks, and waits for what it is told."""

    def ask(state: Door) -> Door:
        return {"agreed": interrupt("may I?")}

    asking = StateGraph(Door).add_node("ask", ask).add_edge(START, "ask").compile()
    door = StateGraph(Door).add_node("door", asking).add_edge(START, "door").compile(checkpointer=saver)
    return await door.ainvoke(command, {"configurable": {"thread_id": thread_id}}, durability="exit")


@pytest.mark.parametrize("thread_id", ["sess_1", "idle"])
async def test_a_turn_that_a_tool_interrupted_is_resumed_however_long_it_waited(home, saver, thread_id):
    for _ in range(3):
        await knock(saver, thread_id, {})
        await knock(saver, thread_id, Command(resume="yes"))
    await knock(saver, thread_id, {})
    await tidy(home, checkpoints_kept=1, checkpoint_days=30)
    answered = await knock(saver, thread_id, Command(resume="at last"))
    assert answered["agreed"] == "at last"
    await tidy(home, checkpoints_kept=1, checkpoint_days=30)
    assert await checkpoints(home, thread_id) == (1 if thread_id == "sess_1" else 0)


async def test_a_soul_whose_tool_asked_its_owner_goes_on_after_the_tidying(home, saver, database_url, tmp_path):
    """As in a parent graph that keeps its checkpoints beside ours."""
    async with StubOpenAI() as stub:
        stub.script(calling("ask_owner"), turn("They agreed."))
        model = {"llm_base_url": stub.base_url, "llm_model": "stub", "llm_carrier": "tags"}
        async with open_souls(tools=[ask_owner], database_url=database_url, data_dir=tmp_path, **model) as context:
            soul_in_it = soul_node(context, "soul_1", session_id="idle", user_id="user_1")
            parent = StateGraph(MessagesState).add_node("soul", soul_in_it).add_edge(START, "soul")
            graph, thread = parent.compile(checkpointer=saver), {"configurable": {"thread_id": "idle"}}
            asked = await graph.ainvoke({"messages": [("human", "Let me in")]}, thread)
            assert asked["__interrupt__"]
            await tidy(home, NOW + 400 * DAY, checkpoints_kept=1, checkpoint_days=30)
            state = await graph.ainvoke(Command(resume="yes"), thread)
    assert state["messages"][-1].text == "They agreed."


async def test_a_run_that_was_killed_between_batches_harms_nothing_and_the_next_ends_it(home, saver, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 4)
    for n in range(20):
        await listen(saver, "sess_1", n)
    before, pauses = await checkpoints(home), 0

    async def killed(_seconds):
        nonlocal pauses
        pauses += 1
        if pauses == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(retention.asyncio, "sleep", killed)
        with pytest.raises(KeyboardInterrupt):
            await tidy(home, checkpoints_kept=KEPT)
    assert KEPT < await checkpoints(home) < before
    assert await listen(saver, "sess_1", "again") == [*range(20), "again"]
    await tidy(home, checkpoints_kept=KEPT)
    assert await checkpoints(home) == KEPT
    assert await listen(saver, "sess_1", "and again") == [*range(20), "again", "and again"]


async def test_a_batch_that_fails_is_taken_back_whole(home, saver, monkeypatch, database_url):
    for n in range(5):
        await listen(saver, "sess_1", n)
    writes = "checkpoint_writes" if database_url.startswith("postgres") else "writes"
    before = await checkpoints(home), await counted(home, writes)
    async with home.read() as tx:
        newest = await tx.checkpoints.newest_surplus("sess_1", 1)
    with pytest.raises(RuntimeError):
        async with home.write() as tx:
            assert await tx.checkpoints.remove("sess_1", newest, 100)
            raise RuntimeError
    assert (await checkpoints(home), await counted(home, writes)) == before


async def test_any_number_of_servers_may_tidy_at_once_while_turns_go_on(home, saver, database_url, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 5)
    for n in range(60):
        await add_job(home, f"turn_{n}", NOW - 8 * DAY, "done")
    for n in range(10):
        await listen(saver, "sess_1", n)

    async def talk():
        for n in range(10, 20):
            await listen(saver, "sess_1", n)

    async with Database.open(database_url) as second, asyncio.timeout(20):
        homes = [home, Stores(second)] * 2
        await asyncio.gather(talk(), *(tidy(one, job_days=7, checkpoints_kept=KEPT) for one in homes))
    await tidy(home, job_days=7, checkpoints_kept=KEPT)
    assert (await jobs_of(home), await checkpoints(home)) == ([], KEPT)
    assert await listen(saver, "sess_1", "again") == [*range(20), "again"]


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


async def say(services, words):
    request = TurnRequest(words, "u", soul_id="soul_1", session_id="talk")
    return await (await services.runner.start(request)).answer()


async def test_after_fifty_turns_the_next_one_still_knows_its_mode_with_few_checkpoints_and_with_none(
    stores, database_url, tmp_path
):
    settings = Settings(data_dir=tmp_path, database_url=database_url, mqtt_url="none", _env_file=None)
    async with stores.write() as tx:
        await tx.souls.add(soul(user_id="u"))
    async with open_services(settings, lambda: NOW) as services:
        for n in range(49):
            await say(services, f"we had tea, for the {n}th time")
        await say(services, "切换到理性模式")
        assert await checkpoints(stores, "talk") == 50
        await tidy(stores, checkpoints_kept=KEPT)
        assert await checkpoints(stores, "talk") == KEPT
        assert (await say(services, "那我们继续聊"))["persona"]["mode"] == "rational"
        await tidy(stores, NOW + 31 * DAY, checkpoint_days=30)
        assert await checkpoints(stores, "talk") == 0
        assert (await say(services, "那我们继续聊"))["persona"]["mode"] == "rational"
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
