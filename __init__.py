"""soulgraph gives a machine a soul: every chat turn is a LangGraph state machine."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from soulgraph.graph.turn import turn_graph
    from soulgraph.nodes.context import Context
    from soulgraph.nodes.tools.gated import gated
    from soulgraph.runtime.soul_node import open_souls, soul_named, soul_node

__version__ = "0.1.0"
__all__ = ["Context", "__version__", "gated", "open_souls", "soul_named", "soul_node", "turn_graph"]

_HOMES = {
    "Context": "soulgraph.nodes.context",
    "gated": "soulgraph.nodes.tools.gated",
    "open_souls": "soulgraph.runtime.soul_node",
    "soul_named": "soulgraph.runtime.soul_node",
    "soul_node": "soulgraph.runtime.soul_node",
    "turn_graph": "soulgraph.graph.turn",
}


def __getattr__(name: str) -> Any:
    """LangGraph is imported when it is asked for: the command line starts without it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
