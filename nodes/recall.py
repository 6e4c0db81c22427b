"""Looks up what was said and lived before that has to do with what is said now."""

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState, Utterance
from soulgraph.stores.stores import Stores

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
    replaced = await replaced_messages(context.stores, utterance)
    recalled = await memory.recall(
        utterance["soul_id"], utterance["text"], wanted, replaced, count_use=counted, audience=audience
    )
    return {"recalled": recalled}


async def replaced_messages(stores: Stores, utterance: Utterance) -> list[int]:
    """The ids of the messages that this utterance takes back: until its answer is stored they are only not seen."""
    replaced = utterance.get("replaces")
    if replaced is None:
        return []
    async with stores.read() as tx:
        return await tx.messages.ids_from(utterance["session_id"], replaced)
