"""The two steps of the tool loop: the model speaks or asks for tools, and the tools run."""

from typing import Any, Literal

from langchain_core.messages import AIMessage
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime
from langgraph.types import Command

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import LoopState
from soulgraph.nodes.streaming import hide_messages, tell
from soulgraph.nodes.tools.gated import gatekeeper
from soulgraph.nodes.tools.skills import offered_by, skill_tools
from soulgraph.voices.speech import speak


async def model(state: LoopState, runtime: Runtime[Context]) -> Command[Any]:
    """One model call; its narrative is shown as it arrives. The last step allowed may ask for no more tools."""
    steps = state.get("steps", 0) + 1
    voice = runtime.context.voice
    skills = [skill.function for skill in offered_by(state.get("terminal"), voice.tools)]
    shown = state.get("shown", "")
    paragraph = "\n\n" if shown else ""

    def show(text: str) -> None:
        nonlocal shown, paragraph
        tell(paragraph + text, state["said"], runtime)
        shown, paragraph = shown + paragraph + text, ""

    last = steps >= runtime.context.max_steps
    message = await speak(voice.offering(skills, may_call=not last), state["messages"], show)
    if last:
        message.tool_calls = []
    return hide_messages({"messages": [message], "output": message.text, "shown": shown, "steps": steps})


async def tools_or_end(state: LoopState) -> Literal["tools", "__end__"]:
    return "tools" if _tool_calls(state) else "__end__"


async def tools(state: LoopState, runtime: Runtime[Context]) -> Any:
    """Run what the model asked for, and tell whoever is watching."""
    for call in _tool_calls(state):
        runtime.stream_writer({"event": "tool", "data": {"name": call["name"], "arguments": call["args"]}})
    done: list[str] = []
    skills = skill_tools(state, runtime.context, done)
    every = [*runtime.context.voice.tools, *skills]
    # Under another name than this node's, whose messages LangGraph would show.
    updates = await ToolNode(every, name="calls", awrap_tool_call=gatekeeper(state["gate"])).ainvoke(state)
    told = [hide_messages(update) for update in (updates if isinstance(updates, list) else [updates])]
    return [*told, Command(update={"executed": done})]


def _tool_calls(state: LoopState) -> list[Any]:
    last = state["messages"][-1]
    return last.tool_calls if isinstance(last, AIMessage) else []
