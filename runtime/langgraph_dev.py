"""The graphs as LangGraph's development server loads them: with their ports, and no saver of their own."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.state import CompiledStateGraph

from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.proactive import proactive_graph
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import AfterglowState, ProactiveInput, ProactiveState
from soulgraph.runtime.ports import open_ports
from soulgraph.runtime.soul_node import open_souls, soul_named, soul_node
from soulgraph.settings import Settings
from soulgraph.stores.records import Json

AnyGraph = CompiledStateGraph[Any, Any, Any, Any]

_NAME = "小满"


class Conversation(MessagesState, total=False):
    soul: Json


@asynccontextmanager
async def turn(config: RunnableConfig) -> AsyncIterator[AnyGraph]:
    """A conversation with the soul that `configurable.soul_id` names, or with one of the studio's own."""
    async with open_souls() as context:
        soul_id = config.get("configurable", {}).get("soul_id") or await soul_named(context, _NAME)
        graph = StateGraph(Conversation).add_node("soul", soul_node(context, soul_id)).add_edge(START, "soul")
        yield graph.compile(name="turn")


@asynccontextmanager
async def afterglow() -> AsyncIterator[AnyGraph]:
    async with open_ports(Settings.load(), time.time) as ports:
        graph = StateGraph(AfterglowState).add_node("afterglow", _run(afterglow_graph(), ports.context))
        yield graph.add_edge(START, "afterglow").compile(name="afterglow")


@asynccontextmanager
async def life() -> AsyncIterator[AnyGraph]:
    async with open_ports(Settings.load(), time.time) as ports:
        graph = StateGraph(ProactiveState, input_schema=ProactiveInput).add_node(
            "life", _run(proactive_graph(), ports.context)
        )
        yield graph.add_edge(START, "life").compile(name="life")


def _run(graph: StateGraph[Any, Context, Any, Any], context: Context) -> Any:
    """A node that lends its graph the ports; who calls the server has none to give."""
    inner = graph.compile()

    async def run(state: Json) -> Json:
        return dict(await inner.ainvoke(state, context=context))

    return run
