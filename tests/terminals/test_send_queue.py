"""The send queue: parcels in order, and when it is full only the newest of each key."""

import asyncio

import pytest

from soulgraph.terminals.payloads import EmotionUpdate
from soulgraph.terminals.send_queue import Parcel, SendQueue


async def sent(queue, count):
    """The next parcels in the order in which they would be sent."""
    found = []
    async with asyncio.timeout(1):
        for _ in range(count):
            found.append(await queue.take())
            queue.mark_sent(found[-1])
        await queue.wait_until_sent()
    return [(parcel.key, parcel.payload.ts) for parcel in found]


def parcel(terminal_id, ts):
    gate = {"exec_mode": "auto_execute", "reason": None, "why": None, "helps": None, "lock_remaining_s": 0.0}
    feeling = {"soul_emotion": {}, "exec_probability": 1, "exec_mode": "auto_execute", "gate": gate}
    update = EmotionUpdate(session_id="s", terminal_id=terminal_id, soul_id="soul", ts=ts, **feeling)
    return Parcel("topic", update, terminal_id)


async def test_parcels_wait_in_order_while_there_is_room():
    queue = SendQueue(limit=3)
    for ts in range(3):
        queue.put(parcel("lamp", ts))
    assert await sent(queue, 3) == [("lamp", 0), ("lamp", 1), ("lamp", 2)]


async def test_without_room_only_the_newest_of_each_terminal_waits():
    queue = SendQueue(limit=3)
    for ts, terminal_id in enumerate(["lamp", "fan", "lamp", "lamp"]):
        queue.put(parcel(terminal_id, ts))
    assert await sent(queue, 2) == [("fan", 1), ("lamp", 3)]


async def test_with_more_terminals_than_room_those_heard_of_last_stay():
    queue = SendQueue(limit=3)
    for ts in range(10):
        queue.put(parcel(f"lamp-{ts}", ts))
    assert await sent(queue, 3) == [("lamp-7", 7), ("lamp-8", 8), ("lamp-9", 9)]


async def test_what_was_under_way_when_the_broker_went_waits_again_unless_it_is_outdated():
    queue = SendQueue(limit=10)
    for ts, terminal_id in enumerate(["lamp", "fan", "bell"]):
        queue.put(parcel(terminal_id, ts))
    taken = [await queue.take() for _ in range(3)]
    queue.mark_sent(taken[1])
    queue.put(parcel("lamp", 7))
    queue.requeue_unsent()
    assert await sent(queue, 2) == [("bell", 2), ("lamp", 7)]


async def test_all_is_sent_only_when_what_was_taken_is():
    queue = SendQueue()
    queue.put(parcel("lamp", 1))
    taken = await queue.take()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await queue.wait_until_sent()
    queue.mark_sent(taken)
    await queue.wait_until_sent()
