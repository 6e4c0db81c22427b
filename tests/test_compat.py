"""What we reach into in other people's libraries is still there, and still does what we need of it."""

import asyncio
from typing import Annotated

import httpx2
import pytest
from aiomqtt import Client
from langchain_core.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelRateLimitError,
)
from langchain_core.runnables import RunnableConfig
from langgraph.channels import UntrackedValue
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from openai import APIError, AsyncOpenAI, NotFoundError
from sqlalchemy import bindparam, column, select
from typing_extensions import TypedDict

from soulgraph.compat import (
    close_chroma_client,
    compile_statement,
    expand_lists,
    http_client_of,
    ignore_lost_connection,
    openai_status_error,
    parent_checkpointer,
    raise_as_langchain,
    streams_messages,
    track_scratch,
    with_context,
)
from soulgraph.stores.statements import dialect_of
from soulgraph.tests.memory.chroma import chroma_server


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


async def test_a_node_is_lent_a_context_that_its_graph_does_not_have():
    seen = []

    async def look(state, runtime: Runtime[str]):
        seen.append(runtime.context)
        return {"kept": 1}

    inner = StateGraph(State, str).add_node("look", look).add_edge(START, "look").compile()

    async def lend(state, config: RunnableConfig):
        return await inner.ainvoke(state, with_context(config, "ours"))

    await StateGraph(State).add_node("lend", lend).add_edge(START, "lend").compile().ainvoke({})
    assert seen == ["ours"]


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


async def test_openai_s_client_tells_what_it_sends_with_and_what_a_status_means():
    async with httpx2.AsyncClient() as http:
        client = AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:1/v1", http_client=http)
        assert http_client_of(client) is http
        request = http.build_request("POST", "http://127.0.0.1:1/v1/chat/completions")
        body = {"error": {"message": "no such model", "param": "model"}}
        error = openai_status_error(client, httpx2.Response(404, json=body, request=request))
    assert isinstance(error, NotFoundError)
    assert (error.param, error.response.status_code) == ("model", 404)
    assert "no such model" in error.message


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ModelInvalidRequestError),
        (401, ModelAuthenticationError),
        (404, ModelNotFoundError),
        (429, ModelRateLimitError),
        (500, ModelAPIError),
    ],
)
def test_errors_of_openai_s_client_are_langchain_s_of_the_same_kind(status, kind):
    request = httpx2.Request("POST", "http://127.0.0.1:1/v1")
    client = AsyncOpenAI(api_key="none")
    with pytest.raises(kind):
        try:
            raise openai_status_error(client, httpx2.Response(status, text="no", request=request))
        except APIError as error:
            raise_as_langchain(error)


async def test_a_graph_that_streams_messages_has_a_callback_for_it_and_another_has_none():
    found = []

    async def node(state, config: RunnableConfig):
        found.append(any(map(streams_messages, config["callbacks"].handlers)))

    graph = StateGraph(MessagesState).add_node(node).add_edge(START, "node").compile()
    for mode in ("messages", "values"):
        async for _ in graph.astream({"messages": []}, stream_mode=mode):
            pass
    assert found == [True, False]


def test_sqlalchemy_writes_a_statement_once_for_all_of_its_form_and_tells_what_stands_in_each():
    known = {}
    ask = lambda name: select(column("a")).where(column("b") == name)  # noqa: E731
    dialect = dialect_of("sqlite")
    first, _ = compile_statement(ask("one"), dialect, known, [], False)
    again, extracted = compile_statement(ask("two"), dialect, known, [], False)
    assert again is first
    assert len(known) == 1
    assert list(again.construct_params(extracted_parameters=extracted, escape_names=False).values()) == ["two"]


def test_sqlalchemy_writes_lists_out_for_their_lengths():
    query = select(column("a")).where(column("b").in_(bindparam("ids", expanding=True)))
    compiled, extracted = compile_statement(query, dialect_of("sqlite"), {}, ["ids"], False)
    parameters = compiled.construct_params({"ids": [7, 8]}, extracted_parameters=extracted, escape_names=False)
    sql, order, _ = expand_lists(compiled, parameters)
    assert sql.count("?") == 2
    assert [parameters[name] for name in order] == [7, 8]
