"""Looks up what was said and lived before that has to do with what is said now."""

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState

_SPARE = 9  # more than the prompt shows: some may be in the part of the conversation that it shows anyway


async def recall(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    """Never fails and keeps its own time limit: a memory that is away is named in `recalled.problem`."""
    context = runtime.context
    utterance = state["utterance"]
    memory = context.memory.recall
    if memory is None or not context.persona.recalled:
        return {"recalled": None}
    counted = not context.rehearsing
    wanted = context.persona.recalled + _SPARE
    audience = frozenset(state["impact"].session.audience)
    recalled = await memory.recall(
        utterance["soul_id"], utterance["text"], wanted, count_use=counted, audience=audience
    )
    return {"recalled": recalled}
