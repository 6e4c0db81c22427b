"""Finds which of the terminal's intents the user asks for."""

import json
from functools import lru_cache
from time import perf_counter

from langgraph.runtime import Runtime

from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.stores.records import Terminal


async def intent_filter(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    utterance = state["utterance"]
    context = runtime.context
    began = perf_counter()
    terminal = await _terminal(utterance.get("terminal_id"), context)
    catalog = _compiled(json.dumps(terminal.intent_catalog) if terminal else "[]")
    text = utterance["text"]
    lang = state["impact"].reply_language(text)
    intents = await context.senses.intents.filter(text, catalog, context.local_time(), lang)
    latency = {"intent_filter_latency_ms": round((perf_counter() - began) * 1000, 2)}
    return {"intents": intents, "terminal": terminal, "latency": {**state["latency"], **latency}}


async def _terminal(terminal_id: str | None, context: Context) -> Terminal | None:
    """The terminal with what it reported; None where there is nothing to act with."""
    if terminal_id is None:
        return None
    async with context.stores.read() as tx:
        return await tx.terminals.find(terminal_id)


@lru_cache(maxsize=256)
def _compiled(catalog: str) -> CompiledCatalog:
    return CompiledCatalog([Intent.model_validate(intent) for intent in json.loads(catalog)])
