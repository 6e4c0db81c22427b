"""One model call of the tool loop."""

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command

from soulgraph.nodes.context import Context
from soulgraph.nodes.run_tools import tool_calls
from soulgraph.nodes.state import LoopState
from soulgraph.nodes.streaming import emit_token, hide_messages
from soulgraph.nodes.tools.skills import offered_by
from soulgraph.voices.speech import speak


async def model(state: LoopState, runtime: Runtime[Context]) -> Command[Any]:
    """The narrative is shown as it arrives. In the last step that is allowed no more tools may be called."""
    steps = state.get("steps", 0) + 1
    voice = runtime.context.voice
    skills = [skill.function for skill in offered_by(state.get("terminal"), voice.tools)]
    shown = state.get("shown", "")
    paragraph = "\n\n" if shown else ""

    def show(text: str) -> None:
        nonlocal shown, paragraph
        emit_token(paragraph + text, state["utterance"], runtime)
        shown, paragraph = shown + paragraph + text, ""

    last = steps >= runtime.context.limits.max_steps
    message = await speak(voice.with_skills(skills, may_call=not last), state["messages"], show)
    if last:
        message.tool_calls = []
    return hide_messages({"messages": [message], "output": message.text, "shown": shown, "steps": steps})


async def tools_or_end(state: LoopState) -> Literal["tools", "__end__"]:
    return "tools" if tool_calls(state) else "__end__"
