"""What model calls cost: added up by the database, whoever writes at the same time."""

import asyncio

from soulgraph.stores.records import DailyUsage
from soulgraph.tests.stores.samples import soul

DAY = "2027-01-15"


def used(day=DAY, kind="turn", soul_id="soul_1", calls=1, input_tokens=10, output_tokens=5):
    return DailyUsage(soul_id, day, kind, calls, input_tokens, output_tokens)


async def test_what_is_spent_at_the_same_time_adds_up(home):
    async def spend(_):
        async with home.write() as tx:
            await tx.usage.add(used())

    await asyncio.gather(*map(spend, range(20)))
    async with home.read() as tx:
        assert await tx.usage.of("soul_1", DAY) == [used(calls=20, input_tokens=200, output_tokens=100)]


async def test_days_kinds_and_souls_are_kept_apart_and_the_newest_day_comes_first(home):
    async with home.write() as tx:
        await tx.souls.add(soul("soul_2"))
        for one in (used("2027-01-13"), used("2027-01-14"), used(), used(kind="archive"), used(soul_id="soul_2")):
            await tx.usage.add(one)
    async with home.read() as tx:
        assert await tx.usage.of("soul_1", "2027-01-14") == [used(kind="archive"), used(), used("2027-01-14")]


async def test_the_tokens_of_a_day_are_those_of_all_kinds_in_both_directions(home):
    async with home.write() as tx:
        for one in (used(input_tokens=3_000_000_000), used(kind="life"), used("2027-01-14")):
            await tx.usage.add(one)
    async with home.read() as tx:
        assert await tx.usage.spent("soul_1", DAY) == 3_000_000_005 + 15
        assert await tx.usage.spent("soul_1", "2027-01-16") == 0
