"""Souls inside a LangGraph of somebody else's: their ports opened in one line, and a node for each."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from soulgraph.errors import ConfigurationError, InvalidInput
from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.turn import turn_graph
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import Json, Said, reply_id
from soulgraph.runtime.admission import TurnRequest, admitted, answered, names_of
from soulgraph.runtime.afterglow_workers import AfterglowWorkers
from soulgraph.runtime.budget import metering
from soulgraph.runtime.ports import open_context
from soulgraph.runtime.tracing.trace import traced
from soulgraph.runtime.turn_runner import CompiledTurn
from soulgraph.settings import Settings
from soulgraph.stores.factories import DEFAULT_USER, new_soul

_LENT_SAVER = "__pregel_checkpointer"
"""Where LangGraph tells a node of the parent's saver; a durability without a saver would be warned about."""


class SoulNode(Protocol):
    async def __call__(self, state: Any, config: RunnableConfig) -> Json: ...


@asynccontextmanager
async def open_souls(*, tools: Sequence[BaseTool] = (), **settings: Any) -> AsyncIterator[Context]:
    """The ports of turns, and those who do the work that turns leave behind, while the block lasts.

    `settings` are those of the environment by their names in lower case, without the prefix; those of the server and of
    MQTT are not read. `tools` are offered to the model beside the soul's own.
    """
    if unknown := settings.keys() - Settings.model_fields.keys():
        raise ConfigurationError(", ".join(sorted(unknown)), "there is no such setting: see the README's table")
    chosen = Settings.load(**settings)
    async with open_context(chosen, time.time, tools) as context:
        afterglow = afterglow_graph().compile(name="afterglow")
        workers = AfterglowWorkers(afterglow, context, chosen.job_lease_s, lambda outcome: None)
        async with workers.running(chosen.shutdown_grace_s):
            yield context


async def soul_named(context: Context, name: str, mbti_type: str = "INFJ", *, user_id: str = DEFAULT_USER) -> str:
    """The id of the user's soul of this name, which is born if there is none."""
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
    the parent is a conversation of its own.
    """
    turn: CompiledTurn = turn_graph(resumable=True).compile(name=name)

    async def soul(state: Any, config: RunnableConfig) -> Json:
        heard = _last_human(state["messages"])
        session = session_id or _session_in(config, soul_id)
        said = await admitted(context, TurnRequest(heard.text, user_id, heard.id, session, soul_id))
        async with context.locks.hold(said["session_id"]):
            answer = await answered(context, said) or await _turn(turn, said, context, config)
        return {"messages": [AIMessage(answer["reply"], name=name, id=reply_id(said))], name: answer}

    return soul


async def _turn(turn: CompiledTurn, said: Said, context: Context, config: RunnableConfig) -> Json:
    """`exit`: what a turn has in hand is written when a tool interrupts it, and not at every step."""
    kept = config.get("configurable", {}).get(_LENT_SAVER) is not None
    named: RunnableConfig = {"metadata": {**config.get("metadata", {}), **names_of(said)}, "run_name": "turn"}
    with traced(awaits="exec_mode"):
        async with metering(context, said["soul_id"], "turn"):
            output = await turn.ainvoke({"said": said}, named, context=context, durability="exit" if kept else None)
    return dict(output["answer"])


def _last_human(messages: Sequence[AnyMessage]) -> HumanMessage:
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            return message
    raise InvalidInput("the soul has nothing to hear: there is no human message in the parent's `messages`")


def _session_in(config: RunnableConfig, soul_id: str) -> str | None:
    """Souls in one thread have a conversation each; without a thread it is the usual one."""
    thread_id = config.get("configurable", {}).get("thread_id")
    return f"{thread_id}:{soul_id}" if thread_id else None
