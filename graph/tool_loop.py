"""The model and its tools: model ⇄ tools, a bounded number of steps."""

from langgraph.graph import START, StateGraph
from langgraph.types import RetryPolicy

from soulgraph.nodes.context import Context
from soulgraph.nodes.model import model, tools_or_end
from soulgraph.nodes.run_tools import run_tools
from soulgraph.nodes.state import LoopOutput, LoopState
from soulgraph.voices.speech import worth_retrying

RETRY = RetryPolicy(max_attempts=3, initial_interval=0.3, retry_on=worth_retrying)
"""For every call of the model in a turn: a lost connection is no answer, as long as nothing was shown."""

ToolLoop = StateGraph[LoopState, Context, LoopState, LoopOutput]


def tool_loop_graph() -> ToolLoop:
    return (
        StateGraph(LoopState, Context, output_schema=LoopOutput)
        .add_node(model, retry_policy=RETRY)
        .add_node("tools", run_tools)
        .add_edge(START, "model")
        .add_conditional_edges("model", tools_or_end)
        .add_edge("tools", "model")
    )
