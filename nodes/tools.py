"""The tools every soul has: to remember, and to recall."""

from typing import Annotated, Any, Literal

from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.prebuilt import ToolRuntime
from langgraph.types import Command

from soulgraph.graph.context import Context
from soulgraph.soul.words import terms_of

_MOST = 5
_LONGEST = 500


@tool
async def remember(fact: Annotated[str, "the fact in one sentence"], runtime: ToolRuntime[Any, Any]) -> Command[None]:
    """Keep a fact about the user for good. Use it when they ask to be remembered or tell you something lasting."""
    # Written with the turn: a turn that fails remembers nothing.
    context: Context = runtime.context
    async with context.stores.read() as tx:
        room = len(await tx.slots.free(runtime.state["said"]["soul_id"])) - len(runtime.state.get("remembered", []))
    kept = [fact.replace("\x00", "").strip()[:_LONGEST]] if room > 0 else []
    told = f"noted: {kept[0]}" if kept else "memory is full: nothing was kept, the user must free a slot first"
    status: Literal["success", "error"] = "success" if kept else "error"
    answer = ToolMessage(told, tool_call_id=runtime.tool_call_id, status=status)
    return Command(update={"messages": [answer], "remembered": kept})


@tool
async def recall_memory(
    query: Annotated[str, "what to look for, in the user's words"], runtime: ToolRuntime[Any, Any]
) -> str:
    """Look up what the user said or asked you to remember earlier, in any conversation."""
    context: Context = runtime.context
    soul_id, terms = runtime.state["said"]["soul_id"], terms_of(query)
    async with context.stores.read() as tx:
        slots = await tx.slots.all(soul_id)
        messages = await tx.messages.mentioning(soul_id, terms, limit=50)
    texts = [slot.content for slot in slots] + [message.content for message in messages]
    found = {text: len(terms & terms_of(text)) for text in texts}
    best = sorted((text for text in found if found[text]), key=lambda text: -found[text])
    return "\n".join(best[:_MOST]) or "nothing found"


TOOLS = (remember, recall_memory)
