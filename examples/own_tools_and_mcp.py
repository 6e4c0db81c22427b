"""A soul with a tool of the program's own and the tools of an MCP server."""

import asyncio
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from scripted_model import ScriptedModel, calls

from soulgraph import gated, open_souls, soul_named, soul_node

ROOM = {"room": {"command": sys.executable, "args": [str(Path(__file__).parent / "room_server.py")]}}
SCRIPT = [
    calls("temperature"),
    calls("heat", degrees=21),
    calls("lamp", color="amber"),
    AIMessage("<narrative>Only 14 °C! I heat the room.</narrative><state_update_json>{}</state_update_json>"),
]


class Talk(MessagesState):
    soul: dict[str, Any]


@tool
def lamp(color: str) -> str:
    """Set the colour of the lamp."""
    return f"the lamp is {color}"


async def main() -> None:
    async with open_souls(tools=[gated(lamp)], mcp=json.dumps(ROOM)) as context:
        voice = replace(context.voice, name="scripted", model=ScriptedModel(script=SCRIPT))
        luna = soul_node(replace(context, voice=voice), await soul_named(context, "Luna"))
        parent = StateGraph(Talk).add_node("soul", luna).add_edge(START, "soul").compile()
        said = {"messages": [HumanMessage("I am cold")]}
        async for part in parent.astream(said, stream_mode=["custom", "values"], subgraphs=True, version="v2"):
            if part["type"] == "custom" and part["data"]["event"] == "tool":
                print("uses", part["data"]["data"])
        print(part["data"]["messages"][-1].text)


asyncio.run(main())
