"""What tests of nodes add: stores in which somebody lives."""

from collections.abc import AsyncIterator

import pytest

from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests.nodes.ann_and_bob import open_house
from soulgraph.tests.stores.samples import soul


@pytest.fixture
async def home(sqlite_url: str) -> AsyncIterator[Stores]:
    """SQLite stores that hold `soul_1`, which has not talked to anybody yet."""
    async with Database.open(sqlite_url) as database:
        stores = Stores(database)
        async with stores.write() as tx:
            await tx.souls.add(soul())
        yield stores


@pytest.fixture
async def house(sqlite_url: str) -> AsyncIterator[Stores]:
    """SQLite stores of a soul that knows Ann and Bob."""
    async with open_house(sqlite_url) as stores:
        yield stores
