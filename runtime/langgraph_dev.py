"""The graphs for LangGraph's development server (`langgraph.json`). They have no checkpointer: it brings its own."""

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
    """A chat with the soul `configurable.soul_id`, or without it with a soul of the studio's own."""
    async with open_souls() as context:
        soul_id = config.get("configurable", {}).get("soul_id") or await soul_named(context, _NAME)
        graph = StateGraph(Conversation).add_node("soul", soul_node(context, soul_id)).add_edge(START, "soul")
        yield graph.compile(name="turn")


@asynccontextmanager
async def afterglow() -> AsyncIterator[AnyGraph]:
    async with open_ports(Settings.load(), time.time) as ports:
        graph = StateGraph(AfterglowState).add_node("afterglow", _with_context(afterglow_graph(), ports.context))
        yield graph.add_edge(START, "afterglow").compile(name="afterglow")


@asynccontextmanager
async def life() -> AsyncIterator[AnyGraph]:
    async with open_ports(Settings.load(), time.time) as ports:
        graph = StateGraph(ProactiveState, input_schema=ProactiveInput).add_node(
            "life", _with_context(proactive_graph(), ports.context)
        )
        yield graph.add_edge(START, "life").compile(name="life")


def _with_context(graph: StateGraph[Any, Context, Any, Any], context: Context) -> Any:
    """A node that runs the graph with our context, because a client of the development server cannot send one."""
    inner = graph.compile()

    async def run(state: Json) -> Json:
        return dict(await inner.ainvoke(state, context=context))

    return run
