"""A soul as an MCP tool: an agent that knows nothing of souls keeps a calendar, and leaves the person to one."""

import asyncio
import tempfile

import httpx
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from scripted_model import ScriptedModel, calls

from soulgraph.cli.hosting import hosted
from soulgraph.settings import Settings

SCRIPT = [
    calls("talk", soul="Luna", text="I failed my exam, I am so sad"),
    calls("remember", soul="Luna", fact="The exam is repeated on Friday"),
    calls("recall", soul="Luna", q="When is the exam?"),
    calls("free_hours", day="Thursday"),
    AIMessage("Luna is with you. You are free on Thursday afternoon: shall we learn then?"),
]


@tool
def free_hours(day: str) -> str:
    """When the person is free on a day."""
    return f"{day}: from 14 to 18"


async def ask(url: str) -> None:
    # A server that asks for keys gets one: "headers": {"Authorization": "Bearer sg-…"}.
    client = MultiServerMCPClient({"souls": {"transport": "http", "url": f"{url}/mcp"}})
    async with client.session("souls") as session:
        tools = await load_mcp_tools(session)
        print("tools:", ", ".join(sorted(one.name for one in tools)))
        agent = create_agent(ScriptedModel(script=SCRIPT), [*tools, free_hours])
        said = "I failed my exam, I am so sad. It is repeated on Friday."
        state = await agent.ainvoke({"messages": [("user", said)]})
    for message in state["messages"]:
        if isinstance(message, ToolMessage):
            print(f"{message.name}: {message.text.splitlines()[0]}")
    print(state["messages"][-1].text)


# A server of its own, so that the program runs by itself; with `soulgraph serve` it is http://127.0.0.1:8000.
with tempfile.TemporaryDirectory() as folder, hosted(Settings.load(data_dir=folder)) as url:
    httpx.post(f"{url}/v1/souls", json={"name": "Luna", "mbti_type": "INFJ"}).raise_for_status()
    asyncio.run(ask(url))
