"""Runs the graph of a turn, and puts the events of its nodes into the turn's log."""

from collections.abc import Mapping
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from soulgraph.nodes.answer import Answer
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnEvent, TurnInput, TurnOutput, TurnState, Utterance
from soulgraph.nodes.streaming import events_to
from soulgraph.runtime.node_events import watching
from soulgraph.runtime.turn_log import TurnLog

CompiledTurn = CompiledStateGraph[TurnState, Context, TurnInput, TurnOutput]

_RECURSION_LIMIT = 100
_STREAMED = ("emotion", "token", "tool", "intent_action")


async def stream_turn(graph: CompiledTurn, context: Context, utterance: Utterance, log: TurnLog) -> Answer:
    """The answer is what the last node has told. Of LangGraph's own stream only its tasks are read, and only if
    somebody watches them."""
    answer: Answer | None = None

    def pass_on(event: TurnEvent) -> None:
        nonlocal answer
        if event.event == "done":
            answer = event.data
        elif event.event in _STREAMED:
            log.add(event)

    nodes = watching(context, "turn", utterance["user_id"], cast(Mapping[str, str], utterance))
    parts = graph.astream(
        {"utterance": utterance},
        run_config(),
        context=context,
        stream_mode=["tasks"] if nodes else [],  # with none, LangGraph makes no task for each of its steps
        subgraphs=nodes is not None,
        version="v2",
    )
    with events_to(pass_on):
        async for part in nodes.followed(parts) if nodes else parts:
            if nodes and part["type"] == "tasks":
                nodes.tell(part["ns"], part["data"])
    assert answer is not None, "a turn that ends has an answer"
    return answer


def trace_ids(utterance: Utterance) -> dict[str, str]:
    """What a trace finds the turn by."""
    return {name: utterance[name] for name in ("session_id", "soul_id", "turn_id", "user_id")}


def run_config(metadata: dict[str, object] | None = None) -> RunnableConfig:
    return {"metadata": metadata or {}, "run_name": "turn", "recursion_limit": _RECURSION_LIMIT}
