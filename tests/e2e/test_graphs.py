"""The graphs as a page draws them: the nodes and edges of the code, with the tool loop inside the turn."""

from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.proactive import proactive_graph
from soulgraph.graph.tool_loop import tool_loop_graph
from soulgraph.graph.turn import turn_graph

BUILT = {
    "turn": turn_graph,
    "tool_loop": tool_loop_graph,
    "afterglow": afterglow_graph,
    "proactive": proactive_graph,
}


async def test_every_graph_has_the_nodes_and_choices_of_the_code(client):
    graphs = {graph["name"]: graph for graph in (await client.get("/v1/graphs")).json()}
    assert list(graphs) == list(BUILT)
    for name, build in BUILT.items():
        ids = [node["id"] for node in graphs[name]["nodes"]]
        assert {*ids} == {"__start__", "__end__", *build().nodes}
        assert all({edge["source"], edge["target"]} <= {*ids} for edge in graphs[name]["edges"])
    choices = {(edge["source"], edge["target"]) for edge in graphs["turn"]["edges"] if edge["conditional"]}
    assert choices == {("gate", "intent_action"), ("gate", "recall"), ("parse", "repair"), ("parse", "writeback")}
    inside = {node["id"]: node["subgraph"] for node in graphs["turn"]["nodes"] if node["subgraph"]}
    assert inside == {"tool_loop": "tool_loop"}
