"""Tells those who have asked for it which nodes of a graph begin and end, while it runs.

LangGraph is asked for its tasks only then: a graph that nobody watches runs as if this file were not there.
"""

import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Literal, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.pregel import Pregel
from pydantic_core import from_json, to_json

from soulgraph.nodes.context import Context
from soulgraph.runtime.notices import encode_json
from soulgraph.soul.timestamps import iso
from soulgraph.stores.records import Json

GraphName = Literal["turn", "tool_loop", "afterglow", "proactive"]
Part = TypeVar("Part")

_FIRST_WORDS = 80
_MAX_BYTES = 16_000
# Characters of a text, and items of a list or mapping: the first pair with which everything fits is taken.
_CUTS = ((4000, 50), (1000, 30), (200, 15), (60, 8))


class NodeEvents:
    """The nodes of one run, for a soul and the person it talks to."""

    def __init__(self, context: Context, graph: GraphName, user_id: str, ids: Mapping[str, str | None]) -> None:
        self._listeners = context.outlets.listeners
        self._clock = context.clock
        self._graph = graph
        self._user_id = user_id
        self._ids = {name: ids.get(name) for name in ("soul_id", "session_id", "turn_id")}
        text = ids.get("text")
        self._words = {"text": text[:_FIRST_WORDS]} if text else {}
        self._began: dict[str, tuple[GraphName, str, float]] = {}

    def tell(self, namespace: tuple[str, ...], task: Mapping[str, Any]) -> None:
        """Pass on what LangGraph says of a task: that it begins, or what it returned."""
        graph = self._graph_of(namespace)
        if graph is None:
            return
        if "input" in task:
            self._began[task["id"]] = graph, task["name"], time.perf_counter()
            start = self._data(graph, task["name"]) | {"phase": "start"}
            self._listeners.tell_node(str(self._ids["soul_id"]), self._user_id, start)
        elif task["id"] in self._began:
            self._tell_end(task["id"], task)

    async def followed(self, parts: AsyncIterator[Part]) -> AsyncIterator[Part]:
        """The stream of the run. When it breaks off, by its time limit or because it is stopped, so do its nodes."""
        try:
            async for part in parts:
                yield part
        except BaseException:
            for task_id in reversed(list(self._began)):
                self._tell_end(task_id, {"error": "the run was broken off before this node ended"})
            raise

    def _tell_end(self, task_id: str, task: Mapping[str, Any]) -> None:
        graph, node, began = self._began.pop(task_id)
        data = self._data(graph, node) | {"phase": "end", "ms": round((time.perf_counter() - began) * 1000, 2)}
        if task.get("error"):
            data["failed"] = True
        self._listeners.tell_node(str(self._ids["soul_id"]), self._user_id, data, lambda: _update(task))

    def _data(self, graph: GraphName, node: str) -> Json:
        return {"graph": graph, "node": node, **self._ids, **self._words, "at": iso(self._clock())}

    def _graph_of(self, namespace: tuple[str, ...]) -> GraphName | None:
        """None for a graph that is not ours, inside a tool of others."""
        if not namespace:
            return self._graph
        inside = namespace[0].partition(":")[0]
        return "tool_loop" if inside == "tool_loop" and len(namespace) == 1 else None


def watching(context: Context, graph: GraphName, user_id: str, ids: Mapping[str, str | None]) -> NodeEvents | None:
    """For a run that begins now; None if nobody has asked for the nodes of this soul."""
    asked = context.outlets.listeners.hears_nodes(str(ids["soul_id"]))
    return NodeEvents(context, graph, user_id, ids) if asked else None


async def run_watched(
    graph: Pregel[Any, Context], state: Any, config: RunnableConfig, context: Context, nodes: NodeEvents | None
) -> None:
    """Run a graph to its end, and tell of its nodes if somebody watches."""
    if nodes is None:
        await graph.ainvoke(state, config, context=context)
        return
    parts = graph.astream(state, config, context=context, stream_mode=["tasks"], version="v2")
    async for part in nodes.followed(parts):
        if part["type"] == "tasks":
            nodes.tell(part["ns"], part["data"])


def _update(task: Mapping[str, Any]) -> Json:
    """What a node returned, or the error it ended with."""
    returned = {"error": task["error"]} if task.get("error") else task["result"]
    try:
        plain: Json = from_json(to_json(returned, fallback=str, bytes_mode="base64", inf_nan_mode="null"))
    except ValueError as error:
        return {"problem": f"cannot be shown: {error}"[:200]}
    return next((cut for limits in _CUTS if _fits(cut := _cut(plain, *limits))), {"problem": "too large to be shown"})


def _fits(update: Json) -> bool:
    return len(encode_json(update).encode()) <= _MAX_BYTES


def _cut(value: Any, characters: int, items: int) -> Any:
    """The same with long texts, lists and mappings shortened; what is left out is counted."""
    if isinstance(value, str) and len(value) > characters:
        return f"{value[:characters]}… (+{len(value) - characters})"
    if isinstance(value, list):
        more = [f"… (+{len(value) - items})"] if len(value) > items else []
        return [_cut(one, characters, items) for one in value[:items]] + more
    if isinstance(value, dict):
        kept = {key: _cut(value[key], characters, items) for key in list(value)[:items]}
        return kept | ({"…": f"+{len(value) - items}"} if len(value) > items else {})
    return value
