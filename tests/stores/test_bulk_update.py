"""Many rows updated by one statement, on both databases."""

import asyncio

from soulgraph.stores import schema
from soulgraph.stores.bulk_update import update_rows
from soulgraph.tests.stores.samples import NOW


def rows(*numbers, seen=NOW + 5):
    return [{"terminal_id": f"term_{n}", "online": n % 2 == 0, "last_seen": seen} for n in numbers]


async def known(stores, count):
    async with stores.write() as tx:
        for n in range(count):
            await tx.terminals.appear(f"term_{n}", NOW)


async def seen(stores):
    async with stores.read() as tx:
        return {one.terminal_id: (one.online, one.last_seen) for one in await tx.terminals.all()}


async def test_each_row_gets_its_own_values_and_the_others_stay(stores):
    await known(stores, 4)
    async with stores.database.write() as connection:
        await update_rows(connection, schema.terminals, "terminal_id", rows(3, 0, 77))
    assert await seen(stores) == {
        "term_0": (True, NOW + 5),
        "term_1": (True, NOW),
        "term_2": (True, NOW),
        "term_3": (False, NOW + 5),
    }


async def test_nothing_to_update_needs_no_connection():
    await update_rows(None, schema.terminals, "terminal_id", [])


async def test_two_that_update_the_same_rows_in_other_orders_wait_for_each_other(stores):
    await known(stores, 40)

    async def update(order, at):
        async with stores.database.write() as connection:
            await update_rows(connection, schema.terminals, "terminal_id", rows(*order, seen=at))

    for at in range(10):
        async with asyncio.timeout(10):
            await asyncio.gather(update(range(40), NOW + at), update(reversed(range(40)), NOW + at))
    assert {one for _, one in (await seen(stores)).values()} == {NOW + 9}
