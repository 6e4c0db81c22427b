"""One model call of the tool loop."""

from typing import Any, Literal

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from langgraph.types import Command

from soulgraph.errors import TurnStopped
from soulgraph.nodes.context import Context
from soulgraph.nodes.run_tools import tool_calls
from soulgraph.nodes.state import LoopState
from soulgraph.nodes.streaming import hide_messages, token_emitter
from soulgraph.nodes.tools.offers import offered
from soulgraph.prompts.contract import STOP
from soulgraph.voices.factory import OFFLINE
from soulgraph.voices.reply_stream import ReplyStream, forbidden_in
from soulgraph.voices.speech import speak
from soulgraph.voices.text_calls import read_calls


async def model(state: LoopState, runtime: Runtime[Context]) -> Command[Any]:
    """The narrative is shown as it arrives. In the last step that is allowed no more tools may be called."""
    steps = state.get("steps", 0) + 1
    voice = runtime.context.voice
    carrier = runtime.context.carrier
    offer = offered(state, voice.tools, weak=carrier == "plain")
    shown = before = state.get("shown", "")
    emit_token = token_emitter(state["utterance"], runtime)

    def joint(text: str) -> str:
        """After a tool a paragraph begins; a reply that goes on where it had ended does so in the same line."""
        if not shown or steps > 1:
            return "\n\n" if shown else ""
        return " " if voice.name != OFFLINE and _are_words(shown[-1], text[:1]) else ""

    def show(text: str) -> None:
        nonlocal shown
        words = joint(text) + text if shown == before else text
        emit_token(words)
        shown += words

    last = steps >= runtime.context.limits.max_steps
    skills = [skill.function for skill in offer.skills]
    speaker = voice.with_skills(skills, may_call=not last, tools=offer.tools)
    reply = ReplyStream(carrier, forbidden_in(state["messages"]))
    try:
        message = await speak(speaker, state["messages"], reply, show, STOP[carrier])
    except TurnStopped:
        if not shown or runtime.context.persona.strict_output:
            raise
        message = AIMessage("")  # what was read is the reply
    if last:
        message.tool_calls = []
    elif shown == before and not message.tool_calls:
        message.tool_calls = read_calls(message.text, [*voice.schemas_of(offer.tools), *skills])
    update = {"messages": [message], "output": message.text, "shown": shown, "fault": reply.problem, "steps": steps}
    return hide_messages(update)


def _are_words(end: str, beginning: str) -> bool:
    """Whether a space belongs between them; Chinese has none."""
    return end.isascii() and not end.isspace() and beginning.isascii() and beginning.isalnum()


async def tools_or_end(state: LoopState) -> Literal["tools", "__end__"]:
    return "tools" if tool_calls(state) else "__end__"
