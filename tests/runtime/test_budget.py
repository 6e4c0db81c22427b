"""What nobody waits for is counted, and stops when the soul's day is spent."""

from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from langchain_core.language_models import FakeListChatModel
from sqlalchemy import text

from soulgraph.errors import BudgetExhausted
from soulgraph.runtime.budget import TokenBudget
from soulgraph.stores.database import Database
from soulgraph.stores.records import DailyUsage
from soulgraph.stores.stores import Stores
from soulgraph.tests.stores.samples import soul
from soulgraph.voices.usage import Usage

BERLIN = ZoneInfo("Europe/Berlin")
COST = Usage(1, 4, 3)


async def think():
    """Costs 4 tokens to ask and 3 to answer."""
    await FakeListChatModel(responses=["twelve chars"]).ainvoke("sixteen letters.")


class World:
    """A soul at half past eleven at night, with 10 tokens a day; what is told of it."""

    def __init__(self, stores):
        self.now = datetime(2027, 1, 15, 23, 30, tzinfo=BERLIN).timestamp()
        self.told, self.observed = [], []
        self.budget = TokenBudget(stores, self, lambda: self.now, BERLIN, 10, self.observe)

    def emit(self, event, **fields):
        self.told.append((event, fields))

    def observe(self, *usage):
        self.observed.append(usage)

    async def books(self):
        async with self.budget.stores.read() as tx:
            return await tx.usage.of("soul_1", "2027-01-01")


@pytest.fixture
async def world(sqlite_url):
    async with Database.open(sqlite_url) as database:
        async with Stores(database).write() as tx:
            await tx.souls.add(soul())
        yield World(Stores(database))


async def test_the_background_stops_when_the_day_is_spent_says_so_and_goes_on_after_midnight(world):
    for _ in range(2):
        async with world.budget.background("soul_1", "archive"):
            await think()
    midnight = datetime(2027, 1, 16, tzinfo=BERLIN).timestamp()
    with pytest.raises(BudgetExhausted, match=r"14 of its 10 tokens.*2027-01-15T23:00.*SOULGRAPH_DAILY_TOKENS") as stop:
        async with world.budget.background("soul_1", "reflect"):
            pytest.fail("nothing may be asked any more")
    assert stop.value.resets_at == midnight
    stopped = {"soul_id": "soul_1", "kind": "reflect", "spent": 14, "resets_at": "2027-01-15T23:00:00.000Z"}
    assert world.told == [("budget.stopped", stopped)]

    world.now = midnight
    async with world.budget.background("soul_1", "reflect"):
        await think()
    assert await world.books() == [
        DailyUsage("soul_1", "2027-01-16", "reflect", 1, 4, 3),
        DailyUsage("soul_1", "2027-01-15", "archive", 2, 8, 6),
    ]
    assert world.observed == [("soul_1", kind, COST) for kind in ("archive", "archive", "reflect")]


async def test_what_turns_have_spent_counts_and_other_souls_and_days_do_not(world):
    async with world.budget.stores.write() as tx:
        await tx.souls.add(soul("soul_2"))
        for soul_id, day in (("soul_2", "2027-01-15"), ("soul_1", "2027-01-14")):
            await tx.usage.add(DailyUsage(soul_id, day, "turn", 1, 100, 100))
    async with world.budget.background("soul_1", "life"):
        pass
    async with world.budget.stores.write() as tx:
        await tx.usage.add(DailyUsage("soul_1", "2027-01-15", "turn", 1, 5, 5))
    with pytest.raises(BudgetExhausted):
        async with world.budget.background("soul_1", "life"):
            pass


async def test_without_a_limit_nothing_stops(world):
    limitless = replace(world.budget, daily_tokens=0)
    for _ in range(5):
        async with limitless.background("soul_1", "life"):
            await think()
    assert await world.books() == [DailyUsage("soul_1", "2027-01-15", "life", 5, 20, 15)]


async def test_what_fails_is_written_down_and_fails_as_it_would(world):
    with pytest.raises(ZeroDivisionError):
        async with world.budget.background("soul_1", "archive"):
            await think()
            raise ZeroDivisionError
    assert await world.books() == [DailyUsage("soul_1", "2027-01-15", "archive", 1, 4, 3)]


async def test_a_soul_that_is_gone_meanwhile_has_no_books(world):
    async with world.budget.metering("soul_1", "life"):
        await think()
        async with world.budget.stores.write() as tx:
            await tx.souls.delete("soul_1")
    assert await world.books() == []
    assert world.observed == [("soul_1", "life", COST)]


async def test_books_that_cannot_be_kept_leave_the_error_as_it_was(world, caplog):
    async with world.budget.stores.database.write() as connection:
        await connection.execute(text("DROP TABLE usage"))
    with pytest.raises(ZeroDivisionError):
        async with world.budget.metering("soul_1", "turn"):
            await think()
            raise ZeroDivisionError
    assert "the cost of a turn of soul soul_1 is not written down" in caplog.text


@pytest.mark.parametrize(
    ("now", "day", "reset"),
    [
        ("2027-03-28T00:30+01:00", "2027-03-28", "2027-03-29T00:00+02:00"),  # a day of 23 hours
        ("2027-10-31T00:30+02:00", "2027-10-31", "2027-11-01T00:00+01:00"),  # a day of 25 hours
    ],
)
async def test_a_day_is_as_long_as_the_calendar_says(world, now, day, reset):
    world.now = datetime.fromisoformat(now).timestamp()
    assert world.budget.today() == day
    assert world.budget.resets_at() == datetime.fromisoformat(reset).timestamp()
