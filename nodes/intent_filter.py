"""Does the user want something done that this terminal can do?"""

import json
from functools import lru_cache

from langgraph.runtime import Runtime

from soulgraph.graph.context import Context
from soulgraph.graph.state import TurnState
from soulgraph.senses.intents.filter import Intent, filter_intents


async def intent_filter(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    said = state["said"]
    catalog = await _catalog_of(said.get("terminal_id"), runtime.context)
    return {"filtered": filter_intents(said["text"], catalog)}


async def _catalog_of(terminal_id: str | None, context: Context) -> list[Intent]:
    """What the terminal reported; without a terminal there is nothing to act with."""
    if terminal_id is None:
        return []
    async with context.stores.read() as tx:
        terminal = await tx.terminals.find(terminal_id)
    return _compiled(json.dumps(terminal.intent_catalog)) if terminal else []


@lru_cache(maxsize=256)
def _compiled(catalog: str) -> list[Intent]:
    return [Intent.model_validate(intent) for intent in json.loads(catalog)]
