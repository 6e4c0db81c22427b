"""The graphs that the server runs, drawn from the code, for a page that shows them at work."""

from functools import cache
from typing import Any

from fastapi import APIRouter
from langgraph.pregel import Pregel
from pydantic import BaseModel, Field

from soulgraph.api.auth import speaker
from soulgraph.graph.afterglow import afterglow_graph
from soulgraph.graph.proactive import proactive_graph
from soulgraph.graph.tool_loop import tool_loop_graph
from soulgraph.graph.turn import turn_graph
from soulgraph.runtime.node_events import GraphName

router = APIRouter(prefix="/v1/graphs", tags=["operations"])


class GraphNode(BaseModel):
    id: str = Field(description="its name in `node` events; `__start__` and `__end__` are where a run begins and ends")
    subgraph: str | None = Field(description="the graph that runs inside it")


class GraphEdge(BaseModel):
    source: str
    target: str
    conditional: bool = Field(description="whether the run chooses between this and others")


class GraphOut(BaseModel):
    name: GraphName
    nodes: list[GraphNode]
    edges: list[GraphEdge]


@router.get("", dependencies=[speaker])
async def list_graphs() -> list[GraphOut]:
    """List the graphs with their nodes and edges: the turn, the tool loop inside it, and what runs beside turns."""
    return _graphs()


@cache
def _graphs() -> list[GraphOut]:
    return [
        _drawn("turn", turn_graph().compile()),
        _drawn("tool_loop", tool_loop_graph().compile()),
        _drawn("afterglow", afterglow_graph().compile()),
        _drawn("proactive", proactive_graph().compile()),
    ]


def _drawn(name: GraphName, graph: Pregel[Any, Any]) -> GraphOut:
    drawing = graph.get_graph()
    return GraphOut(
        name=name,
        nodes=[GraphNode(id=node.id, subgraph=_subgraph(node.data)) for node in drawing.nodes.values()],
        edges=[
            GraphEdge(source=edge.source, target=edge.target, conditional=edge.conditional) for edge in drawing.edges
        ],
    )


def _subgraph(runs: object) -> str | None:
    return runs.name if isinstance(runs, Pregel) else None
