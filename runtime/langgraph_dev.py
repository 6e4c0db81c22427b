"""The graphs for LangGraph's development server (`langgraph.json`). They have no checkpointer: it brings its own.

Each is the real graph, node for node, so that the server shows what every node returns. Its nodes are lent our context,
because a client of the server cannot send one.
"""

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, cast, get_type_hints

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.graph import END, START, MessagesState, StateGraph, add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import Field
from typing_extensions import TypedDict

from soulgraph.compat import with_context
from soulgraph.errors import SoulgraphError
from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.proactive import proactive_graph
from soulgraph.graph.turn import turn_graph
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState, reply_id
from soulgraph.runtime.admission import TurnRequest, admit
from soulgraph.runtime.ports import open_ports
from soulgraph.runtime.soul_node import last_human, open_souls, session_in, soul_named
from soulgraph.settings import Settings
from soulgraph.soul.people import DEFAULT_USER
from soulgraph.stores.records import Json
from soulgraph.voices.speech import worth_retrying

AnyGraph = CompiledStateGraph[Any, Any, Any, Any]

_NAME = "小满"
_PROMPT = "prompt"


class NodeFailed(RuntimeError):
    """Tells what went wrong in our words: of errors that it does not know the server tells only the name."""


@dataclass(frozen=True, slots=True)
class TurnChoices:
    """What the server asks for in a form before a conversation."""

    soul_id: Annotated[
        str,
        Field(
            title="Soul",
            description=f"The id of the soul to talk to, like `soul_…`. Empty: {_NAME}, who is made for this server.",
        ),
    ] = ""


@asynccontextmanager
async def turn() -> AsyncIterator[AnyGraph]:
    """A chat: what a person says becomes an utterance, the turn runs, and its reply is added to the messages."""
    async with open_souls() as context:
        # No schema of outputs: the server tells of a node only what is among them.
        graph = StateGraph(_chat_state(), TurnChoices, input_schema=MessagesState)
        graph.add_node("hear", _hear(context)).add_node("reply", _reply(context)).add_edge(START, "hear")
        # Resumable, for LangGraph draws no graph in a node that has no checkpoints of its own.
        _add(graph, turn_graph(resumable=True), context, first="hear", last="reply")
        yield graph.add_edge("reply", END).compile(name="turn")


@asynccontextmanager
async def afterglow() -> AsyncIterator[AnyGraph]:
    async with open_ports(Settings.load(), time.time) as ports:
        yield _lent(afterglow_graph(), ports.context).compile(name="afterglow")


@asynccontextmanager
async def life() -> AsyncIterator[AnyGraph]:
    async with open_ports(Settings.load(), time.time) as ports:
        yield _lent(proactive_graph(), ports.context).compile(name="life")


def _chat_state() -> Any:
    """The state of a turn, in which the prompt has another name: `messages` are what the chat shows."""
    keys = get_type_hints(TurnState, include_extras=True)
    keys |= {_PROMPT: keys["messages"], "messages": Annotated[list[AnyMessage], add_messages], "soul": Json}
    return cast(Any, TypedDict)("ChatState", keys, total=False)


def _hear(context: Context) -> Any:
    async def hear(state: MessagesState, config: RunnableConfig, runtime: Runtime[TurnChoices]) -> Json:
        with _words_of_errors():
            message = last_human(state["messages"])
            soul_id = (runtime.context.soul_id if runtime.context else "") or await soul_named(context, _NAME)
            request = TurnRequest(message.text, DEFAULT_USER, message.id, session_in(config, soul_id), soul_id)
            return {"utterance": await admit(context.stores, request)}

    return hear


def _reply(context: Context) -> Any:
    async def reply(state: Any) -> Json:
        context.outlets.new_jobs.set()
        answer, utterance = state["answer"], state["utterance"]
        return {"messages": [AIMessage(answer["reply"], name="soul", id=reply_id(utterance))], "soul": answer}

    return reply


def _lent(graph: StateGraph[Any, Any, Any, Any], context: Context) -> StateGraph[Any, Any, Any, Any]:
    """The same graph, for callers who have no context."""
    schemas: Json = {"input_schema": graph.input_schema, "output_schema": graph.output_schema}
    lent: StateGraph[Any, Any, Any, Any] = StateGraph(graph.state_schema, **schemas)
    _add(lent, graph, context)
    return lent


def _add(
    to: StateGraph[Any, Any, Any, Any],
    graph: StateGraph[Any, Any, Any, Any],
    context: Context,
    first: str = START,
    last: str = END,
) -> None:
    """Add the nodes and edges of a graph between two nodes of another."""
    for name, node in graph.nodes.items():
        to.add_node(name, _with_context(cast(Any, node.runnable), context), retry_policy=node.retry_policy)
    for source, target in graph.edges:
        to.add_edge(first if source == START else source, last if target == END else target)
    for source, branches in graph.branches.items():
        for branch in branches.values():
            to.add_conditional_edges(source, _without_schema(branch.path), branch.ends)


def _without_schema(path: Runnable[Any, Any]) -> Any:
    """The same choice; LangGraph would read from its types that it needs the state of its own graph."""

    async def choose(state: Any) -> Any:
        return await path.ainvoke(state)

    return choose


def _with_context(node: Runnable[Any, Any], context: Context) -> Any:
    async def run(state: Json, config: RunnableConfig) -> Any:
        renamed = {**state, "messages": state[_PROMPT]} if _PROMPT in state else state
        # Named by itself, for LangGraph finds a node's graph among the names that its function refers to.
        with _words_of_errors():
            return _prompt_apart(await _invoke(node, renamed, with_context(config, context)))

    return run


async def _invoke(node: Runnable[Any, Any], state: Json, config: RunnableConfig) -> Any:
    return await node.ainvoke(state, config)


@contextmanager
def _words_of_errors() -> Iterator[None]:
    try:
        yield
    except SoulgraphError as error:
        if worth_retrying(error):
            raise
        raise NodeFailed(f"{error.title}: {error.detail}") from error


def _prompt_apart(output: Any) -> Any:
    """What a node of a turn returns as its messages is the prompt."""
    if isinstance(output, Command):
        return Command(update=_prompt_apart(output.update), goto=output.goto)
    if isinstance(output, list):  # the pairs of a command
        return [(_PROMPT if key == "messages" else key, value) for key, value in output]
    if isinstance(output, dict):
        return {_PROMPT if key == "messages" else key: value for key, value in output.items()}
    return output
