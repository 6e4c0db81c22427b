"""What waits for the broker: in order, and where there is no room only what is newest."""

import asyncio

from soulgraph.terminals.payloads import EmotionUpdate
from soulgraph.terminals.waiting import Parcel, Waiting


async def sent(waiting, count):
    """The next parcels in the order in which they would be sent."""
    found = []
    async with asyncio.timeout(1):
        for _ in range(count):
            found += await waiting.first(1)
            waiting.sent(found[-1:])
        await waiting.all_sent()
    return [(parcel.key, parcel.payload.ts) for parcel in found]


def parcel(terminal_id, ts):
    feeling = {"soul_emotion": {}, "exec_probability": 1, "exec_mode": "auto_execute"}
    update = EmotionUpdate(session_id="s", terminal_id=terminal_id, soul_id="soul", ts=ts, **feeling)
    return Parcel("topic", update, terminal_id)


async def test_parcels_wait_in_order_while_there_is_room():
    waiting = Waiting(limit=3)
    for ts in range(3):
        waiting.put(parcel("lamp", ts))
    assert await sent(waiting, 3) == [("lamp", 0), ("lamp", 1), ("lamp", 2)]


async def test_without_room_only_the_newest_of_each_terminal_waits():
    waiting = Waiting(limit=3)
    for ts, terminal_id in enumerate(["lamp", "fan", "lamp", "lamp"]):
        waiting.put(parcel(terminal_id, ts))
    assert await sent(waiting, 2) == [("fan", 1), ("lamp", 3)]


async def test_with_more_terminals_than_room_those_heard_of_last_stay():
    waiting = Waiting(limit=3)
    for ts in range(10):
        waiting.put(parcel(f"lamp-{ts}", ts))
    assert await sent(waiting, 3) == [("lamp-7", 7), ("lamp-8", 8), ("lamp-9", 9)]


async def test_a_parcel_outdated_while_it_is_sent_takes_no_other_with_it():
    waiting = Waiting(limit=1)
    waiting.put(parcel("lamp", 1))
    under_way = await waiting.first(1)
    waiting.put(parcel("lamp", 2))
    waiting.sent(under_way)
    assert await sent(waiting, 1) == [("lamp", 2)]
