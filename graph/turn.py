"""One chat turn, from what the user said to what is stored. This is the product on one screen."""

from langgraph.graph import END, START, StateGraph

from soulgraph.compat import track_scratch
from soulgraph.graph.tool_loop import RETRY, tool_loop_graph
from soulgraph.nodes.context import Context
from soulgraph.nodes.emotion import emotion
from soulgraph.nodes.gate import act_or_talk, gate
from soulgraph.nodes.intent_action import intent_action
from soulgraph.nodes.intent_filter import intent_filter
from soulgraph.nodes.pad_update import pad_update
from soulgraph.nodes.parse import parse, usable_or_repair
from soulgraph.nodes.persona_context import persona_context
from soulgraph.nodes.recall import recall
from soulgraph.nodes.repair import repair
from soulgraph.nodes.state import TurnInput, TurnOutput, TurnState
from soulgraph.nodes.writeback import writeback

Turn = StateGraph[TurnState, Context, TurnInput, TurnOutput]


def turn_graph(*, resumable: bool = False) -> Turn:
    """The uncompiled turn: compile it with your checkpointer, run it with a `Context`.

    A resumable one may be interrupted by a tool: what it needs to go on is then in the checkpoint too.
    """
    graph = (
        StateGraph(TurnState, Context, input_schema=TurnInput, output_schema=TurnOutput)
        .add_node(emotion)
        .add_node(pad_update)
        .add_node(intent_filter)
        .add_node(gate)
        .add_node(intent_action)
        .add_node(recall)
        .add_node(persona_context)
        .add_node("tool_loop", tool_loop_graph().compile(checkpointer=None if resumable else False, name="tool_loop"))
        .add_node(parse)
        .add_node(repair, retry_policy=RETRY)
        .add_node(writeback)
        .add_edge(START, "emotion")
        .add_edge("emotion", "pad_update")
        .add_edge("pad_update", "intent_filter")
        .add_edge("intent_filter", "gate")
        .add_conditional_edges("gate", act_or_talk)
        .add_edge("intent_action", "writeback")
        .add_edge("recall", "persona_context")
        .add_edge("persona_context", "tool_loop")
        .add_edge("tool_loop", "parse")
        .add_conditional_edges("parse", usable_or_repair)
        .add_edge("repair", "parse")
        .add_edge("writeback", END)
    )
    if resumable:
        track_scratch(graph)
    return graph
