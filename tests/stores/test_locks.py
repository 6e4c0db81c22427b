"""Locks: one holder per session, first come first served, in one process and among servers."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from soulgraph.errors import Busy, StoreUnavailable
from soulgraph.stores.database import database_url
from soulgraph.stores.locks import AdvisoryLocks, SessionLocks
from soulgraph.tests.services import end_connections

LIMIT = 8


@asynccontextmanager
async def server(url):
    """The locks of one server on a PostgreSQL."""
    async with AdvisoryLocks.open(database_url(url)) as shared:
        yield SessionLocks(LIMIT, shared)


async def is_free(locks, session_id, timeout_s=0.15):
    try:
        async with asyncio.timeout(timeout_s), locks.hold(session_id):
            return True
    except TimeoutError:
        return False


async def test_turns_of_a_session_come_in_the_order_they_were_sent():
    locks, order, inside = SessionLocks(LIMIT), [], 0

    async def turn(n):
        nonlocal inside
        async with locks.hold("sess_1"):
            inside += 1
            assert inside == 1
            await asyncio.sleep(0.001)
            order.append(n)
            inside -= 1

    await asyncio.gather(*map(turn, range(LIMIT)))
    assert order == list(range(LIMIT))
    assert locks._queues == {}


async def test_sessions_do_not_wait_for_each_other():
    locks = SessionLocks(LIMIT)
    async with locks.hold("sess_1"):
        assert await is_free(locks, "sess_2")
        assert not await is_free(locks, "sess_1")


async def test_a_full_queue_refuses_at_once_and_takes_again_later():
    locks = SessionLocks(2)
    async with locks.hold("sess_1"):
        waiting = asyncio.create_task(is_free(locks, "sess_1", 5))
        await asyncio.sleep(0)
        with pytest.raises(Busy) as busy:
            locks.hold("sess_1")
        assert busy.value.retry_after_s > 0
        assert await is_free(locks, "sess_2")
    assert await waiting
    assert await is_free(locks, "sess_1")
    assert locks._queues == {}


async def test_a_place_in_the_queue_is_taken_before_it_is_entered():
    locks = SessionLocks(1)
    place = locks.hold("sess_1")
    with pytest.raises(Busy):
        locks.hold("sess_1")
    async with place:
        pass
    assert locks._queues == {}


async def test_a_holder_that_fails_frees_the_lock():
    locks = SessionLocks(LIMIT)
    with pytest.raises(ZeroDivisionError):
        async with locks.hold("sess_1"):
            raise ZeroDivisionError
    assert locks._queues == {}
    assert await is_free(locks, "sess_1")


async def test_a_waiter_that_gives_up_leaves_the_queue():
    locks = SessionLocks(2)
    async with locks.hold("sess_1"):
        assert not await is_free(locks, "sess_1", 0.01)
        assert not await is_free(locks, "sess_1", 0.01)
    assert locks._queues == {}


async def test_servers_on_one_database_exclude_each_other(postgres_url):
    async with server(postgres_url) as one, server(postgres_url) as other:
        async with one.hold("sess_1"):
            assert not await is_free(other, "sess_1")
            assert await is_free(other, "sess_2")
        assert await is_free(other, "sess_1")
        assert one._queues == other._queues == {}


async def test_two_busy_servers_never_work_on_one_session_together(postgres_url):
    inside, turns = 0, []

    async def turn(locks, n):
        nonlocal inside
        async with locks.hold("sess_1"):
            inside += 1
            assert inside == 1
            await asyncio.sleep(0.005)
            turns.append(n)
            inside -= 1

    async with server(postgres_url) as one, server(postgres_url) as other:
        await asyncio.gather(*[turn(locks, n) for n in range(4) for locks in (one, other)])
    assert sorted(turns) == [0, 0, 1, 1, 2, 2, 3, 3]


async def test_a_server_holds_many_sessions_on_one_connection(postgres_url):
    async with server(postgres_url) as one, server(postgres_url) as other, AsyncExitStack() as held:
        for n in range(20):
            await held.enter_async_context(one.hold(f"sess_{n}"))
        assert not await is_free(other, "sess_0")
        assert not await is_free(other, "sess_19")


async def test_a_killed_server_blocks_nobody_and_survivors_reconnect(postgres_url):
    async with server(postgres_url) as killed, server(postgres_url) as survivor:
        assert await is_free(survivor, "sess_1")
        async with killed.hold("sess_1"):
            end_connections(postgres_url)
            assert await is_free(survivor, "sess_1", 5)
        assert await is_free(killed, "sess_1", 5)


async def test_a_cancelled_turn_never_keeps_the_lock(postgres_url):
    async def turn(locks):
        async with locks.hold("sess_1"):
            await asyncio.sleep(0)

    async with server(postgres_url) as cancelled, server(postgres_url) as other:
        await turn(cancelled)
        for n in range(40):
            task = asyncio.create_task(turn(cancelled))
            await asyncio.sleep(n * 0.00005)
            task.cancel()
            await asyncio.wait([task])
        assert await is_free(other, "sess_1", 1)


async def test_a_database_that_is_away_is_unavailable():
    async with server("postgresql://127.0.0.1:1/soul") as locks:
        with pytest.raises(StoreUnavailable):
            async with locks.hold("sess_1"):
                pass
        assert locks._queues == {}
