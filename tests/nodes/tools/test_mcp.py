"""Tools of MCP servers, over the real protocol with a server process."""

import sys

import pytest

from soulgraph.errors import ConfigurationError
from soulgraph.nodes.tools.mcp import open_mcp_tools

SERVER = """
import os
from mcp.server.fastmcp import FastMCP
from mcp.types import ToolAnnotations

room = FastMCP("room", log_level="ERROR")

@room.tool(annotations=ToolAnnotations(readOnlyHint=True))
def look() -> str:
    return "a room"

@room.tool()
def fall() -> str:
    os._exit(1)

@room.tool()
def stumble() -> str:
    raise ValueError("over a chair")

room.run()
"""


def server(program):
    return {"transport": "stdio", "command": sys.executable, "args": ["-c", program]}


def call(tool):
    return {"type": "tool_call", "id": "call_1", "name": tool.name, "args": {}}


async def test_what_acts_is_gated_and_a_server_that_fails_or_falls_is_told_to_the_model():
    async with open_mcp_tools({"room": server(SERVER)}) as tools:
        look, fall, stumble = tools
        assert [bool(tool.metadata and tool.metadata.get("gated")) for tool in tools] == [False, True, True]
        assert (await look.ainvoke(call(look))).text == "a room"
        assert "over a chair" in (await stumble.ainvoke(call(stumble))).text
        for tool in (fall, look):
            told = await tool.ainvoke(call(tool))
            assert (told.status, told.text) == ("error", "Not done: room cannot be reached.")


async def test_an_error_of_the_block_comes_out_as_it_is():
    with pytest.raises(KeyError):
        async with open_mcp_tools({"room": server(SERVER)}):
            raise KeyError("mine")


@pytest.mark.parametrize("broken", [server("raise SystemExit(1)"), {"transport": "stdio"}, {"transport": "pigeon"}])
async def test_a_server_that_cannot_be_used_stops_the_start_and_is_named(broken):
    with pytest.raises(ConfigurationError, match=r"SOULGRAPH_MCP: the MCP server 'room' cannot be used: ."):
        async with open_mcp_tools({"room": broken}):
            pass
