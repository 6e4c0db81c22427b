"""Finds which of the terminal's intents the user asks for, or goes on with after the soul's question."""

import json
from functools import lru_cache
from time import perf_counter
from typing import cast

from langgraph.runtime import Runtime

from soulgraph.nodes.answer import Answer
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState, Utterance
from soulgraph.senses.intents.catalog import Intent
from soulgraph.senses.intents.compiled_catalog import CompiledCatalog
from soulgraph.senses.intents.decision import MatchedIntent
from soulgraph.stores.messages import MAX_ID
from soulgraph.stores.records import Terminal

MAX_WAIT_S = 120.0
"""How long a question about a missing slot stays open."""


async def intent_filter(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    utterance = state["utterance"]
    context = runtime.context
    began = perf_counter()
    terminal = await _terminal(utterance.get("terminal_id"), context)
    catalog = _compiled(json.dumps(terminal.intent_catalog) if terminal else "[]")
    text = utterance["text"]
    asked = await _asked(utterance, context) if catalog.intents else []
    lang = state["impact"].reply_language(text)
    intents = await context.senses.intents.filter(text, catalog, context.local_time(), asked, lang)
    latency = {"intent_filter_latency_ms": round((perf_counter() - began) * 1000, 2)}
    return {"intents": intents, "terminal": terminal, "latency": {**state["latency"], **latency}}


async def _terminal(terminal_id: str | None, context: Context) -> Terminal | None:
    """The terminal with what it reported; None where there is nothing to act with."""
    if terminal_id is None:
        return None
    async with context.stores.read() as tx:
        return await tx.terminals.find(terminal_id)


async def _asked(utterance: Utterance, context: Context) -> list[MatchedIntent]:
    """The intents that the last thing the soul said in this session asked about, if that was just now.

    They are read from the stored answer of that turn, so an input that is sent again finds the same.
    """
    async with context.stores.read() as tx:
        last = await tx.messages.last(utterance["session_id"], 1, utterance.get("replaces") or MAX_ID)
        if not last or last[0].proactive or context.clock() - last[0].created_at > MAX_WAIT_S:
            return []
        turns = await tx.turns.of({last[0].turn_id})
    answer = next((cast(Answer, turn.answer) for turn in turns if turn.answer), None)
    if answer is None or answer["exec_mode"] == "blocked" or answer["terminal_id"] != utterance["terminal_id"]:
        return []
    return [MatchedIntent.model_validate(match) for match in answer["intents"] if match["question"]]


@lru_cache(maxsize=256)
def _compiled(catalog: str) -> CompiledCatalog:
    return CompiledCatalog([Intent.model_validate(intent) for intent in json.loads(catalog)])
