"""Finds which of the terminal's intents the user asks for, or goes on with after the soul's question."""

from time import perf_counter
from typing import cast

from langgraph.runtime import Runtime

from soulgraph.errors import InvalidInput
from soulgraph.nodes.answer import Answer
from soulgraph.nodes.context import Context
from soulgraph.nodes.state import TurnState, Utterance
from soulgraph.senses.intents.decision import IntentResult, MatchedIntent
from soulgraph.stores.messages import MAX_ID
from soulgraph.stores.records import Terminal

MAX_WAIT_S = 120.0
"""How long a question about a missing slot stays open."""
LEARNING_TIMEOUT_S = 5.0
"""How long a turn waits for the examples of a catalog that is still being compiled."""


async def intent_filter(state: TurnState, runtime: Runtime[Context]) -> TurnState:
    utterance = state["utterance"]
    context = runtime.context
    began = perf_counter()
    terminal = await _terminal(utterance.get("terminal_id"), context)
    intents = await _filter(state, terminal, context)
    latency = {"intent_filter_latency_ms": round((perf_counter() - began) * 1000, 2)}
    return {"intents": intents, "terminal": terminal, "latency": {**state["latency"], **latency}}


async def _filter(state: TurnState, terminal: Terminal | None, context: Context) -> IntentResult:
    if terminal is None or not terminal.intent_catalog:
        return IntentResult.without("no_action", "no intents are offered")
    utterance, sense = state["utterance"], context.senses.intents
    try:
        catalog = await sense.catalogs.compiled_stored(terminal.intent_catalog)
    except InvalidInput as error:
        return IntentResult.without("no_action", f"the terminal's catalog cannot be used: {error.detail}")
    asked = await _asked(utterance, context)
    lang = state["impact"].reply_language(utterance["text"])
    return await sense.filter(
        utterance["text"], catalog, context.local_time(), asked, lang, learning_timeout_s=LEARNING_TIMEOUT_S
    )


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
