"""A small MCP server: what it shows may be looked at in any mood, what it does is up to the soul's gate."""

from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations

room = FastMCP("room", log_level="ERROR")


@room.tool(annotations=ToolAnnotations(readOnlyHint=True))
def temperature() -> str:
    """How warm it is in the room."""
    return "14 °C"


@room.tool()
def heat(degrees: int) -> str:
    """Heat the room."""
    return f"the room is heated to {degrees} °C"


room.run()
