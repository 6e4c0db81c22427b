"""Tools of MCP servers, over the real protocol with a server process."""

import sys

import pytest
from langchain_core.tools import StructuredTool

from soulgraph.nodes.tools.mcp import Toolbox, open_mcp_tools
from soulgraph.nodes.tools.memory import TOOLS
from soulgraph.voices.offline import OfflineVoice
from soulgraph.voices.voice import Voice

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
    async with open_mcp_tools({"room": server(SERVER)}) as servers:
        look, fall, stumble = tools = servers.tools
        assert [bool(tool.metadata and tool.metadata.get("gated")) for tool in tools] == [False, True, True]
        assert (await look.ainvoke(call(look))).text == "a room"
        assert "over a chair" in (await stumble.ainvoke(call(stumble))).text
        told = await fall.ainvoke(call(fall))
        lost = "It is not known whether this was done: room cannot be reached any more."
        assert (told.status, told.text) == ("error", lost)
        assert (await look.ainvoke(call(look))).text == "a room"


async def test_an_error_of_the_block_comes_out_as_it_is():
    with pytest.raises(KeyError):
        async with open_mcp_tools({"room": server(SERVER)}):
            raise KeyError("mine")


@pytest.mark.parametrize("broken", [server("raise SystemExit(1)"), {"transport": "stdio"}, {"transport": "pigeon"}])
async def test_a_server_that_cannot_be_used_is_skipped_and_named(broken, caplog):
    async with open_mcp_tools({"room": broken}) as servers:
        [report] = servers.reports()
        assert (report.state, list(servers.tools)) == ("broken", [])
    assert f"MCP server room is skipped until it can be used: {report.problem}" in caplog.text
    assert report.problem


async def test_a_toolbox_holds_the_tools_of_the_moment():
    async with open_mcp_tools({"room": server(SERVER)}) as servers:
        toolbox = Toolbox(TOOLS, servers)
        assert len(toolbox) == len(TOOLS) + 3
        assert [tool.name for tool in toolbox][-3:] == ["look", "fall", "stumble"]
        servers.tools = ()
        assert [*toolbox] == [*TOOLS]


def test_a_voice_tells_a_tool_anew_that_has_come_back_as_another():
    def made(description):
        return StructuredTool.from_function(lambda: "", name="look", description=description)

    voice = Voice("voice", OfflineVoice())
    first, second = made("a room"), made("a cellar")
    for tool in (first, second, first):
        [schema] = voice.schemas_of([tool])
        assert schema["function"]["description"] == tool.description
        bound = voice.with_skills((), may_call=True, tools=[tool])
        assert bound.kwargs["tools"][0]["function"]["description"] == tool.description
