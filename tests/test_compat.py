"""What we reach into in other people's libraries is still there, and still does what we need of it."""

import asyncio
import sqlite3
import threading
from typing import Annotated

from aiomqtt import Client
from langgraph.channels import UntrackedValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from soulgraph.compat import (
    InlineSqliteConnection,
    close_chroma_client,
    ignore_lost_connection,
    parent_checkpointer,
    track_scratch,
)
from soulgraph.tests.memory.chroma import chroma_server


async def test_aiosqlite_statements_run_where_they_are_awaited(tmp_path):
    threads = set()

    async def run(statement):
        threads.add(threading.current_thread())
        return statement()

    async with InlineSqliteConnection(str(tmp_path / "some.db"), run, 0.1) as connection:
        await connection.execute("CREATE TABLE t (n INTEGER)")
        await connection.execute("INSERT INTO t VALUES (7)")
        await connection.commit()
        async with connection.execute("SELECT n FROM t") as cursor:
            assert await cursor.fetchall() == [(7,)]
    assert threads == {threading.main_thread()}
    assert sqlite3.connect(tmp_path / "some.db").execute("SELECT n FROM t").fetchall() == [(7,)]


async def test_a_lost_mqtt_connection_that_nobody_waits_for_is_not_reported():
    reported = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))
    client = Client("127.0.0.1")
    ignore_lost_connection(client)
    client._disconnected.set_exception(RuntimeError("gone"))
    await asyncio.sleep(0)
    del client
    assert reported == []


async def test_a_chroma_client_can_be_closed_inside_the_event_loop(tmp_path):
    import chromadb

    with chroma_server(tmp_path) as url:
        host, port = url.removeprefix("http://").split(":")
        client = await chromadb.AsyncHttpClient(host, int(port))
        await client.heartbeat()
        await close_chroma_client(client)
        assert all(http.is_closed for http in client._server._clients.values())


class State(TypedDict, total=False):
    kept: int
    scratch: Annotated[int, UntrackedValue]


async def test_a_node_is_told_of_the_saver_of_its_graph():
    seen = []

    async def look(state, config):
        seen.append(parent_checkpointer(config))
        return {"kept": 1}

    graph, saver = StateGraph(State).add_node("look", look).add_edge(START, "look"), InMemorySaver()
    await graph.compile().ainvoke({})
    await graph.compile(checkpointer=saver).ainvoke({}, {"configurable": {"thread_id": "t"}})
    assert [type(lent) for lent in seen] == [type(None), InMemorySaver]


async def test_scratch_is_in_the_checkpoint_only_where_it_is_tracked():
    async def write(state):
        return {"kept": 1, "scratch": 2}

    kept = []
    for tracked in (False, True):
        graph, saver = StateGraph(State).add_node("write", write).add_edge(START, "write"), InMemorySaver()
        if tracked:
            track_scratch(graph)
        config = {"configurable": {"thread_id": "t"}}
        await graph.compile(checkpointer=saver).ainvoke({}, config)
        kept.append(saver.get_tuple(config).checkpoint["channel_values"])
    assert kept == [{"kept": 1}, {"kept": 1, "scratch": 2}]
