"""The bus: every server hears every message once and in the same order, or hears that it may have missed some."""

import asyncio
import logging
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

import psycopg
import pytest

from soulgraph.runtime import postgres_bus as module
from soulgraph.runtime.bus import LocalBus, open_bus
from soulgraph.stores import notifications
from soulgraph.stores.database import database_url
from soulgraph.tests.services import end_connections, postgres_schema

WAIT_S = 20


class Heard(list):
    """What one server has heard under a topic, and how often it was told of a gap."""

    def __init__(self, bus, topic="news"):
        super().__init__()
        self.bus = bus
        self.gaps = 0
        bus.subscribe(topic, self.append)
        bus.on_gap(self._note_gap)

    def _note_gap(self):
        self.gaps += 1


async def until(condition):
    async with asyncio.timeout(WAIT_S):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def servers(url, count=2):
    async with AsyncExitStack() as stack:
        yield [Heard(await stack.enter_async_context(open_bus(database_url(url)))) for _ in range(count)]


@contextmanager
def without_database(url, *heard):
    """No connection is left, and none can be made."""
    right = [one.bus._notifications._conninfo for one in heard]
    for one in heard:
        one.bus._notifications._conninfo = "host=127.0.0.1 port=1"
    end_connections(url)
    try:
        yield
    finally:
        for one, conninfo in zip(heard, right, strict=True):
            one.bus._notifications._conninfo = conninfo


async def test_a_server_that_is_alone_hears_itself_at_once():
    heard = Heard(LocalBus())
    heard.bus.publish("news", {"n": 1})
    heard.bus.publish("other", {"n": 2})
    assert heard == [{"n": 1}]


async def test_sqlite_needs_no_database_to_carry_messages(sqlite_url):
    async with servers(sqlite_url, 1) as (heard,):
        heard.bus.publish("news", {"n": 1})
        assert heard == [{"n": 1}]


async def test_every_server_hears_everything_in_the_same_order(postgres_url):
    async with servers(postgres_url, 3) as heard:
        for n in range(200):
            for k, one in enumerate(heard):
                one.bus.publish("news", {"from": k, "n": n})
            await asyncio.sleep(0)
        await until(lambda: all(len(one) == 600 for one in heard))
        assert heard[0] == heard[1] == heard[2]
        for k in range(3):
            assert [one["n"] for one in heard[0] if one["from"] == k] == list(range(200))
        assert len({one.bus.server_id for one in heard}) == 3
        assert [one.gaps for one in heard] == [0, 0, 0]


@pytest.mark.parametrize(
    "text",
    [
        "x" * 7900,
        "x" * 8000,
        "a" * 50_000,
        "她说：今天的雨很好。" * 3000,
        '\u0000\n"\\ \ud83d 🙂' * 900,
        "a" * 1_000_000,
    ],
    ids=["almost a part", "over a part", "seven parts", "Chinese", "escapes", "a million"],
)
async def test_a_message_may_be_as_long_as_it_likes(postgres_url, text):
    async with servers(postgres_url) as (one, two):
        for n in range(3):
            one.bus.publish("news", {"text": text, "n": n})
            two.bus.publish("news", {"text": text, "n": n})
        await until(lambda: len(one) == len(two) == 6)
        assert one == two
        assert {message["text"] for message in two} == {text}


async def test_equal_messages_stay_as_many_as_they_are(postgres_url):
    async with servers(postgres_url) as (one, two):
        for _ in range(5):
            one.bus.publish("news", {"same": True})
        await until(lambda: len(two) == 5)


async def test_a_burst_of_ten_thousand_is_heard_whole_and_in_order(postgres_url):
    async with servers(postgres_url) as (one, two):
        for n in range(10_000):
            one.bus.publish("news", {"n": n})
        await until(lambda: len(one) == len(two) == 10_000)
        assert [message["n"] for message in two] == list(range(10_000))
        assert two.gaps == 0


async def test_servers_of_another_schema_hear_nothing(postgres_url):
    with postgres_schema() as other_url:
        async with servers(postgres_url) as (one, two), servers(other_url, 1) as (stranger,):
            one.bus.publish("news", {"n": 1})
            stranger.bus.publish("news", {"n": 2})
            await until(lambda: two and stranger)
            assert (two, stranger) == ([{"n": 1}], [{"n": 2}])


async def test_an_error_of_a_handler_costs_nobody_else_a_message(postgres_url, caplog):
    async with servers(postgres_url) as (one, two):
        two.bus.subscribe("broken", lambda data: data["missing"])
        one.bus.publish("broken", {})
        one.bus.publish("news", {"n": 1})
        await until(lambda: two)
    assert "KeyError: 'missing'" in caplog.text


async def test_what_others_write_to_the_channel_is_ignored(postgres_url):
    async with servers(postgres_url) as (one, two):
        one.bus.publish("news", {"n": 1})
        await until(lambda: two)
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            channel = one.bus._notifications._channel
            connection.execute("SELECT pg_notify(%s, %s)", (channel, "hello"))
        one.bus.publish("news", {"n": 2})
        await until(lambda: len(two) == 2)


async def test_after_broken_connections_servers_are_told_of_a_gap_and_go_on(postgres_url):
    async with servers(postgres_url) as (one, two):
        one.bus.publish("news", {"n": 1})
        await until(lambda: two)
        end_connections(postgres_url)
        await until(lambda: one.gaps and two.gaps)
        one.bus.publish("news", {"n": 2})
        await until(lambda: len(one) == len(two) == 2)
        assert one == two == [{"n": 1}, {"n": 2}]


async def test_what_is_said_while_the_database_is_away_is_heard_here_at_once_and_there_later(postgres_url, caplog):
    async with servers(postgres_url) as (one, two):
        one.bus.publish("news", {"n": 0})
        await until(lambda: one and two)
        with without_database(postgres_url, one, two):
            await until(lambda: not one.bus._listening.is_set() and not two.bus._listening.is_set())
            for n in range(1, 4):
                one.bus.publish("news", {"n": n})
            await asyncio.sleep(0)
            assert [message["n"] for message in one] == [0, 1, 2, 3]
            assert [message["n"] for message in two] == [0]
        await until(lambda: one.gaps and two.gaps)
        one.bus.publish("news", {"n": 4})
        await until(lambda: one[-1] == two[-1] == {"n": 4})
        assert [message["n"] for message in one] == [0, 1, 2, 3, 4]
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) <= 4, "one for each that hears and each that sends, however often it is tried"


async def test_what_the_queue_cannot_hold_is_dropped_and_others_are_told_of_a_gap(postgres_url, monkeypatch):
    monkeypatch.setattr(module, "_MAX_PENDING", 10)
    async with servers(postgres_url) as (one, two):
        one.bus.publish("news", {"n": -1})
        await until(lambda: two)
        for n in range(30):
            one.bus.publish("news", {"n": n})
        await until(lambda: len(two) == 11)
        assert [message["n"] for message in two] == [-1, *range(20, 30)]
        assert two.gaps == 1
        assert [message["n"] for message in one] == [-1, *range(30)]


async def test_a_connection_that_hears_nothing_more_is_replaced(postgres_url, monkeypatch):
    monkeypatch.setattr(notifications, "TICK_S", 0.05)
    async with servers(postgres_url, 1) as (one,):
        one.bus.publish("news", {"n": 0})
        await until(lambda: one)
        one.bus._notifications._channel = "elsewhere"  # the connection stays, and nothing comes over it any more
        one.bus.publish("news", {"n": 1})
        await until(lambda: one.gaps)
        assert one == [{"n": 0}, {"n": 1}]


async def test_what_is_published_after_the_end_stays_here(postgres_url):
    async with servers(postgres_url) as (one, two):
        pass
    one.bus.publish("news", {"n": 1})
    await asyncio.sleep(0)
    assert (one, two) == ([{"n": 1}], [])


async def test_what_was_published_last_is_still_sent(postgres_url):
    async with servers(postgres_url, 1) as (one,):
        async with servers(postgres_url, 1) as (other,):
            other.bus.publish("news", {"n": 1})
        await until(lambda: one)
