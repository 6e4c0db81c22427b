"""Runs the tools that the model asked for."""

from typing import Any

from langchain_core.messages import AIMessage
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import Command

from soulgraph.nodes.context import Context
from soulgraph.nodes.outside import told_outside
from soulgraph.nodes.state import LoopState
from soulgraph.nodes.streaming import emit, hide_messages
from soulgraph.nodes.tools.gated import gatekeeper
from soulgraph.nodes.tools.skills import skill_tools
from soulgraph.nodes.tools.untrusted import defusing


async def run_tools(state: LoopState, runtime: Runtime[Context]) -> Any:
    """Listeners hear of every call before it runs; a tool that the gate closes answers with a refusal."""
    context = runtime.context
    for call in tool_calls(state):
        emit("tool", {"name": call["name"], "arguments": call["args"]}, runtime)
    used: list[str] = []
    tools = [*context.voice.tools, *skill_tools(state, context, used)]
    # Under another name than this node's, whose messages LangGraph would stream to a parent.
    node = ToolNode(tools, name="calls", awrap_tool_call=defusing(gatekeeper(state["gate"])))
    updates = await node.ainvoke(state)
    updates = updates if isinstance(updates, list) else [updates]
    told = [text for update in updates for text in told_outside(update)]
    return [*map(hide_messages, updates), Command(update={"executed": used, "outside": told})]


def tool_calls(state: LoopState) -> list[Any]:
    last = state["messages"][-1]
    return last.tool_calls if isinstance(last, AIMessage) else []
