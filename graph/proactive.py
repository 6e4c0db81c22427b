"""A life of its own: whether a soul says something that nobody asked for. Silence is an end like any other."""

from langgraph.graph import END, START, StateGraph

from soulgraph.nodes.consider import ask_or_not, consider
from soulgraph.nodes.context import Context
from soulgraph.nodes.decide import decide, speak_or_not
from soulgraph.nodes.speak_up import heard_or_not, speak_up
from soulgraph.nodes.state import ProactiveInput, ProactiveState
from soulgraph.nodes.stay_silent import stay_silent

Proactive = StateGraph[ProactiveState, Context, ProactiveInput, ProactiveState]


def proactive_graph() -> Proactive:
    """The uncompiled graph; `runtime/proactive_scheduler.py` knows when to run it."""
    return (
        StateGraph(ProactiveState, Context, input_schema=ProactiveInput)
        .add_node(consider)
        .add_node(decide)
        .add_node(speak_up)
        .add_node(stay_silent)
        .add_edge(START, "consider")
        .add_conditional_edges("consider", ask_or_not)
        .add_conditional_edges("decide", speak_or_not)
        .add_conditional_edges("speak_up", heard_or_not)
        .add_edge("stay_silent", END)
    )
