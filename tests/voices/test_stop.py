"""A turn can be stopped while it waits, and only then."""

import asyncio

import pytest

from soulgraph.errors import TurnStopped
from soulgraph.voices.stop import Stop, current_stop, stoppable


async def test_a_wait_ends_as_soon_as_a_stop_is_requested():
    stop = Stop()
    asyncio.get_running_loop().call_later(0.01, stop.request)
    with pytest.raises(TurnStopped):
        async with asyncio.timeout(5), stop.interruptible():
            await asyncio.Event().wait()
    assert stop.heeded


async def test_one_that_was_requested_before_ends_the_next_wait():
    stop = Stop()
    stop.request()
    assert not stop.heeded
    with pytest.raises(TurnStopped):
        async with asyncio.timeout(5), stop.interruptible():
            await asyncio.Event().wait()


async def test_between_the_waits_nothing_is_interrupted():
    stop = Stop()
    async with stop.interruptible():
        pass
    stop.request()
    await asyncio.sleep(0.01)
    assert (stop.requested, stop.heeded) == (True, False)


async def test_a_time_limit_of_somebody_else_is_no_stop():
    with pytest.raises(TimeoutError):
        async with Stop().interruptible(), asyncio.timeout(0):
            await asyncio.Event().wait()


async def test_tasks_of_a_turn_inherit_its_stop_and_others_have_none():
    async def mine():
        return current_stop()

    stop = Stop()
    with stoppable(stop):
        task = asyncio.create_task(mine())
    assert await task is stop
    assert await mine() is not stop
