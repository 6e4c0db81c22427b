"""What the conformance suite adds: a database that is not empty."""

import pytest

from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import session, soul


@pytest.fixture
async def home(stores: Stores) -> Stores:
    """Stores that hold `soul_1` with its session `sess_1`."""
    async with stores.write() as tx:
        await tx.souls.add(soul())
        await tx.sessions.add(session())
    return stores
