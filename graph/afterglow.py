"""What follows a turn once its reply is out: the soul changes, learns, keeps what happened, thinks and tidies up."""

from langgraph.graph import END, START, StateGraph

from soulgraph.nodes.archive import archive
from soulgraph.nodes.context import Context
from soulgraph.nodes.draw_facts import draw_facts
from soulgraph.nodes.maintain import maintain
from soulgraph.nodes.propose import propose
from soulgraph.nodes.reflect import reflect
from soulgraph.nodes.state import AfterglowState
from soulgraph.nodes.suggest_update import suggest_update
from soulgraph.nodes.update_state import update_state

Afterglow = StateGraph[AfterglowState, Context, AfterglowState, AfterglowState]


def afterglow_graph() -> Afterglow:
    """Every step may be run again after a crash: what is done already is found done."""
    return (
        StateGraph(AfterglowState, Context)
        .add_node(update_state)
        .add_node(propose)
        .add_node(draw_facts)
        .add_node(archive)
        .add_node(reflect)
        .add_node(maintain)
        .add_node(suggest_update)
        .add_edge(START, "update_state")
        .add_edge("update_state", "propose")
        .add_edge("propose", "draw_facts")
        .add_edge("draw_facts", "archive")
        .add_edge("archive", "reflect")
        .add_edge("reflect", "maintain")
        .add_edge("maintain", "suggest_update")
        .add_edge("suggest_update", END)
    )
