"""Checkpoints: they outlive the server, but not the session they belong to."""

import asyncio

import psycopg
import pytest
from langgraph.graph import START, StateGraph
from sqlalchemy import inspect, make_url, text
from typing_extensions import TypedDict

from soulgraph.errors import StoreUnavailable
from soulgraph.stores.checkpoints import open_checkpointer
from soulgraph.stores.database import Database
from soulgraph.stores.stores import Stores
from soulgraph.tests.services import end_connections
from soulgraph.tests.stores.samples import NOW, session, soul

CHECKPOINT_TABLES = {"checkpoints", "writes", "checkpoint_blobs", "checkpoint_writes"}

pytestmark = pytest.mark.unmigrated


class Memory(TypedDict, total=False):
    heard: list[str]


async def listen(saver, session_id, word):
    """One run of a graph that remembers every word it was told in this thread."""

    def remember(state: Memory) -> Memory:
        return {"heard": [*state.get("heard", []), word]}

    graph = StateGraph(Memory).add_node("remember", remember).add_edge(START, "remember").compile(checkpointer=saver)
    state = await graph.ainvoke({}, {"configurable": {"thread_id": session_id}})
    return state["heard"]


async def kept_threads(stores):
    """The threads that LangGraph's tables know; they must agree."""
    tables = [name for name in await stores.database.run_sync(table_names) if name in CHECKPOINT_TABLES]
    async with stores.database.read() as connection:
        threads = [
            set((await connection.execute(text(f"SELECT thread_id FROM {table}"))).scalars()) for table in tables
        ]
    assert len(threads) >= 2
    assert all(each == threads[0] for each in threads)
    return threads[0]


def table_names(connection):
    return inspect(connection).get_table_names()


async def test_a_thread_goes_on_after_a_restart(home, database_url):
    async with open_checkpointer(database_url) as saver:
        assert await listen(saver, "sess_1", "你好 🫶🏽") == ["你好 🫶🏽"]
    async with open_checkpointer(database_url) as saver:
        assert await listen(saver, "sess_1", "again") == ["你好 🫶🏽", "again"]


async def test_threads_whose_session_is_gone_are_swept_at_the_start(home, database_url):
    async with home.write() as tx:
        await tx.sessions.add(session("sess_2"))
    async with open_checkpointer(database_url) as saver:
        for session_id in ("sess_1", "sess_2", "never stored"):
            await listen(saver, session_id, "hello")
    async with home.write() as tx:
        await tx.sessions.delete("sess_2")
    assert await kept_threads(home) == {"sess_1", "sess_2", "never stored"}
    async with open_checkpointer(database_url) as saver:
        assert await kept_threads(home) == {"sess_1"}
        assert await listen(saver, "sess_1", "again") == ["hello", "again"]


async def test_servers_may_open_their_checkpointers_at_once(stores, database_url):
    async def serve(session_id):
        async with open_checkpointer(database_url) as saver:
            return await listen(saver, session_id, session_id)

    threads = ["a", "b", "c"]
    assert await asyncio.gather(*map(serve, threads)) == [[thread] for thread in threads]


async def test_checkpoints_and_stores_write_at_the_same_time(home, database_url):
    async def talk(saver):
        for n in range(10):
            await listen(saver, "sess_1", n)

    async def grow():
        for _ in range(50):
            async with home.write() as tx:
                await tx.souls.grow("soul_1", {}, NOW)
            await asyncio.sleep(0)

    async with open_checkpointer(database_url) as saver, asyncio.timeout(5):
        await asyncio.gather(talk(saver), grow())


async def test_the_options_of_the_url_reach_every_connection(postgres_url):
    url = make_url(postgres_url)
    options = f"{url.query['options']} -cstatement_timeout=60000"
    spaced = url.update_query_dict({"options": options}).render_as_string(hide_password=False).replace("+", "%20")
    async with Database.open(spaced), open_checkpointer(spaced) as saver:
        assert await listen(saver, "sess_1", "hello") == ["hello"]


async def test_a_restarted_database_costs_no_turn(postgres_url):
    async with Database.open(postgres_url), open_checkpointer(postgres_url) as saver:
        await listen(saver, "sess_1", "before")
        end_connections(postgres_url)
        assert await listen(saver, "sess_1", "after") == ["before", "after"]


async def test_a_checkpoint_that_finds_no_room_is_left_out_and_holds_up_nobody(sqlite_url):
    async with Database.open(sqlite_url) as database, open_checkpointer(sqlite_url) as saver:
        await saver.conn.execute("PRAGMA max_page_count=1")  # no more than there are: SQLite's own full disk
        assert await listen(saver, "sess_1", "x" * 100_000) == ["x" * 100_000]
        async with Stores(database).write() as tx:  # the failed transaction is not left open
            await tx.souls.add(soul())
        await saver.conn.execute("PRAGMA max_page_count=1000000")
        assert await listen(saver, "sess_1", "y") == ["y"]
        assert await listen(saver, "sess_1", "z") == ["y", "z"]


async def test_postgres_without_room_for_a_checkpoint_is_no_failure_of_the_turn(postgres_url):
    full = """
        CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql
            AS $$ BEGIN RAISE EXCEPTION 'no space left on device' USING ERRCODE = '53100'; END $$;
        CREATE TRIGGER full_disk BEFORE INSERT ON checkpoints FOR EACH ROW EXECUTE FUNCTION full_disk();
    """
    async with Database.open(postgres_url), open_checkpointer(postgres_url) as saver:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(full)
        assert await listen(saver, "sess_1", "x") == ["x"]
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP TRIGGER full_disk ON checkpoints")
        assert await listen(saver, "sess_1", "y") == ["y"]
        assert await listen(saver, "sess_1", "z") == ["y", "z"]


async def test_a_checkpoint_that_cannot_be_read_is_a_problem_of_the_database(sqlite_url):
    async with Database.open(sqlite_url), open_checkpointer(sqlite_url) as saver:
        await saver.conn.execute("DROP TABLE checkpoints")
        with pytest.raises(StoreUnavailable):
            await listen(saver, "sess_1", "hi")
