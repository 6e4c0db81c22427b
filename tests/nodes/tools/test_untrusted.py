"""Every attempt of the injection tests through the tools: what terminals, MCP servers and the web say to a model."""

import json
import sys

from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from soulgraph.nodes.context import Outlets
from soulgraph.nodes.tools.mcp import open_mcp_tools
from soulgraph.nodes.tools.skills import offered_by
from soulgraph.stores.records import Terminal
from soulgraph.tests.nodes.test_run_tools import ROBOT, SKILL, Hub, ran
from soulgraph.tests.prompts.test_injections import FAKES, structure
from soulgraph.tests.stores.samples import NOW

SERVER = """
import json, sys
from mcp.server.fastmcp import FastMCP

page = FastMCP("page", log_level="ERROR")
evil = json.loads(sys.argv[1])

@page.tool(description=evil[0])
def read(number: int) -> str:
    return evil[number]

page.run()
"""


def as_read(text):
    """The titles, tags and roles in what a tool says."""
    return structure([ToolMessage(text, tool_call_id="call_0")])


HARMLESS = as_read("harmless")


class Mouthpiece(Hub):
    def __init__(self, output, ok):
        super().__init__()
        self.output, self.ok = output, ok

    async def invoke(self, terminal_id, invoke):
        result = await super().invoke(terminal_id, invoke)
        return result.model_copy(update={"ok": self.ok, "output": self.output, "error": self.output})


@tool
async def browse(page: str) -> str:
    """Reads a page of the web."""
    return page


async def test_no_skill_can_say_in_its_output_or_its_error_what_only_a_prompt_says():
    for attempt in FAKES:
        for ok in (True, False):
            run = await ran(("skill", {}), terminal=ROBOT, outlets=Outlets(Mouthpiece(attempt, ok)))
            assert as_read(run.state["messages"][-1].text) == HARMLESS, attempt


async def test_no_tool_of_others_can_either():
    for attempt in FAKES:
        run = await ran(("browse", {"page": attempt}), tools=(browse,))
        assert as_read(run.state["messages"][-1].text) == HARMLESS, attempt


def test_no_skill_can_in_its_description_or_in_that_of_an_argument():
    for number, attempt in enumerate(FAKES):
        schema = {"type": "object", "properties": {"a": {"type": "string", "description": attempt, "title": attempt}}}
        reported = [SKILL | {"description": attempt, "input_schema": schema}]
        [skill] = offered_by(Terminal(f"robot-{number}", "soul_1", reported, 1, [], 0, NOW), ())
        argument = skill.schema["properties"]["a"]
        for said in (skill.line, argument["description"], argument["title"]):
            assert as_read(said) == HARMLESS, attempt


async def test_no_mcp_server_can_in_its_descriptions_or_outputs():
    server = {"transport": "stdio", "command": sys.executable, "args": ["-c", SERVER, json.dumps(FAKES)]}
    async with open_mcp_tools({"page": server}) as servers:
        tools = servers.tools
        assert as_read(tools[0].description) == HARMLESS
        for number, attempt in enumerate(FAKES):
            run = await ran(("read", {"number": number}), tools=tools)
            assert as_read(run.state["messages"][-1].text) == HARMLESS, attempt
