"""Those who do the work after turns, where a server is more than the test needs."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

from soulgraph.errors import StoreUnavailable
from soulgraph.runtime.afterglow_workers import AfterglowWorkers
from soulgraph.tests.nodes.samples import small_context


async def test_a_database_that_is_away_does_not_hold_up_the_end():
    asked = asyncio.Event()

    @asynccontextmanager
    async def away():
        asked.set()
        raise StoreUnavailable("it is away")
        yield

    context = small_context(stores=SimpleNamespace(write=away))
    async with asyncio.timeout(3):  # it would look again after ten seconds
        async with AfterglowWorkers(None, context, 60.0).running(grace_s=1):
            await asked.wait()
