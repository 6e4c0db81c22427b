"""Souls inside a LangGraph of somebody else's: opened in one line, and a node for each."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from soulgraph.compat import parent_checkpointer
from soulgraph.errors import ConfigurationError, InvalidInput
from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.turn import turn_graph
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import reply_id
from soulgraph.runtime.admission import TurnRequest
from soulgraph.runtime.afterglow_workers import AfterglowWorkers
from soulgraph.runtime.ports import open_ports
from soulgraph.runtime.retention import Retention
from soulgraph.runtime.turn_runner import TurnRunner
from soulgraph.settings import Settings
from soulgraph.soul.people import DEFAULT_USER
from soulgraph.stores.factories import new_soul
from soulgraph.stores.records import Json


class SoulNode(Protocol):
    async def __call__(self, state: Any, config: RunnableConfig) -> Json: ...


@asynccontextmanager
async def open_souls(*, tools: Sequence[BaseTool] = (), **settings: Any) -> AsyncIterator[Context]:
    """The ports of turns, and the workers that do what turns leave behind, while the block lasts.

    `settings` are those of the environment by their names in lower case, without the prefix; those of the server and of
    MQTT are not read. `tools` are offered to the model beside the soul's own.
    """
    if unknown := settings.keys() - Settings.model_fields.keys():
        raise ConfigurationError(", ".join(sorted(unknown)), "there is no such setting: see docs/settings.md")
    chosen = Settings.load(**settings)
    async with open_ports(chosen, time.time, tools) as ports:
        workers = AfterglowWorkers(
            afterglow_graph().compile(name="afterglow"), ports.context, chosen.job_lease_s, bus=ports.bus
        )
        # Checkpoints are the parent's.
        retention = Retention(ports.context.stores, ports.context.clock, chosen.job_days)
        async with workers.running(chosen.shutdown_grace_s), retention.running():
            yield ports.context


async def soul_named(context: Context, name: str, mbti_type: str = "INFJ", *, user_id: str = DEFAULT_USER) -> str:
    """The id of the user's soul of this name, which is made if there is none."""
    async with context.stores.write() as tx:
        for soul in await tx.souls.all(user_id):
            if soul.name == name:
                return soul.soul_id
        soul = await new_soul(
            tx,
            name=name,
            mbti_type=mbti_type,
            user_id=user_id,
            character_id=None,
            now=context.clock(),
            constants=context.constants,
        )
        await tx.souls.add(soul)
    return soul.soul_id


def soul_node(
    context: Context, soul_id: str, *, name: str = "soul", session_id: str | None = None, user_id: str = DEFAULT_USER
) -> SoulNode:
    """A node for a parent with `messages`: the soul hears the last human one and adds its reply.

    The whole answer is returned under `name`, for a parent that has such a key. Without a `session_id` each thread of
    the parent is a session of its own.
    """
    # LangGraph finds a node's subgraph among the names that its function refers to: hence `graph` is one of them.
    graph = turn_graph(resumable=True).compile(name=name)
    runner = TurnRunner(graph, context)

    async def soul(state: Any, config: RunnableConfig) -> Json:
        message = last_human(state["messages"])
        session = session_id or session_in(config, soul_id)
        request = TurnRequest(message.text, user_id, message.id, session, soul_id)
        durable = parent_checkpointer(config) is not None
        utterance, answer = await runner.run_inside(request, graph, config, durable)
        return {"messages": [AIMessage(answer["reply"], name=name, id=reply_id(utterance))], name: answer}

    return soul


def last_human(messages: Sequence[AnyMessage]) -> HumanMessage:
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            return message
    raise InvalidInput("the soul has nothing to hear: there is no human message in the parent's `messages`")


def session_in(config: RunnableConfig, soul_id: str) -> str | None:
    """Souls in one thread have a session each; without a thread it is the default one."""
    thread_id = config.get("configurable", {}).get("thread_id")
    return f"{thread_id}:{soul_id}" if thread_id else None
