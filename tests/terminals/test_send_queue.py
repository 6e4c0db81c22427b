"""What waits for the broker: in order, and where there is no room only what is newest."""

import asyncio

import pytest

from soulgraph.terminals.payloads import EmotionUpdate
from soulgraph.terminals.send_queue import Parcel, SendQueue


async def sent(waiting, count):
    """The next parcels in the order in which they would be sent."""
    found = []
    async with asyncio.timeout(1):
        for _ in range(count):
            found.append(await waiting.take())
            waiting.sent(found[-1])
        await waiting.all_sent()
    return [(parcel.key, parcel.payload.ts) for parcel in found]


def parcel(terminal_id, ts):
    feeling = {"soul_emotion": {}, "exec_probability": 1, "exec_mode": "auto_execute"}
    update = EmotionUpdate(session_id="s", terminal_id=terminal_id, soul_id="soul", ts=ts, **feeling)
    return Parcel("topic", update, terminal_id)


async def test_parcels_wait_in_order_while_there_is_room():
    waiting = SendQueue(limit=3)
    for ts in range(3):
        waiting.put(parcel("lamp", ts))
    assert await sent(waiting, 3) == [("lamp", 0), ("lamp", 1), ("lamp", 2)]


async def test_without_room_only_the_newest_of_each_terminal_waits():
    waiting = SendQueue(limit=3)
    for ts, terminal_id in enumerate(["lamp", "fan", "lamp", "lamp"]):
        waiting.put(parcel(terminal_id, ts))
    assert await sent(waiting, 2) == [("fan", 1), ("lamp", 3)]


async def test_with_more_terminals_than_room_those_heard_of_last_stay():
    waiting = SendQueue(limit=3)
    for ts in range(10):
        waiting.put(parcel(f"lamp-{ts}", ts))
    assert await sent(waiting, 3) == [("lamp-7", 7), ("lamp-8", 8), ("lamp-9", 9)]


async def test_what_was_under_way_when_the_broker_went_waits_again_unless_it_is_outdated():
    waiting = SendQueue(limit=10)
    for ts, terminal_id in enumerate(["lamp", "fan", "bell"]):
        waiting.put(parcel(terminal_id, ts))
    taken = [await waiting.take() for _ in range(3)]
    waiting.sent(taken[1])
    waiting.put(parcel("lamp", 7))
    waiting.take_back()
    assert await sent(waiting, 2) == [("bell", 2), ("lamp", 7)]


async def test_all_is_sent_only_when_what_was_taken_is():
    waiting = SendQueue()
    waiting.put(parcel("lamp", 1))
    taken = await waiting.take()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await waiting.all_sent()
    waiting.sent(taken)
    await waiting.all_sent()
