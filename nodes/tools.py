"""The tools every soul has: to remember, and to recall."""

from typing import Annotated

from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from soulgraph.graph.context import Context
from soulgraph.graph.state import LoopState
from soulgraph.soul.words import terms_of

_MOST = 5


@tool
async def remember(
    fact: Annotated[str, "the fact in one sentence"], runtime: ToolRuntime[Context, LoopState]
) -> Command[None]:
    """Keep a fact about the user for good. Use it when they ask to be remembered or tell you something lasting."""
    # Written with the turn: a turn that fails remembers nothing.
    noted = ToolMessage(f"noted: {fact}", tool_call_id=runtime.tool_call_id or "")
    return Command(update={"messages": [noted], "remembered": [fact]})


@tool
async def recall_memory(
    query: Annotated[str, "what to look for, in the user's words"], runtime: ToolRuntime[Context, LoopState]
) -> str:
    """Look up what the user said or asked you to remember earlier, in any conversation."""
    terms = terms_of(query)
    async with runtime.context.stores.read() as tx:
        slots = await tx.slots.all(runtime.state["soul_id"])
        messages = await tx.messages.mentioning(runtime.state["soul_id"], terms, limit=50)
    candidates = [slot.content for slot in slots] + [message.content for message in messages]
    found = [text for text in candidates if terms & terms_of(text)]
    found.sort(key=lambda text: len(terms & terms_of(text)), reverse=True)
    return "\n".join(found[:_MOST]) or "nothing found"


TOOLS = (remember, recall_memory)
